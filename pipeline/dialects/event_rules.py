"""The rules every CloudEvent must keep to be read; the first one broken is its reason."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from pipeline.dialects.attributes import (
    CARRIED,
    CONTENT_TYPE,
    FOREIGN,
    MODE,
    REQUIRED,
    STRUCTURED,
    attribute,
    header_not_utf8,
    is_not_utf8,
    is_readable,
)
from pipeline.dialects.json_text import DEEPEST, nested_member
from pipeline.raw import RAW_VALUE
from pipeline.reasons import Reason
from pipeline.refuse import Rule

_FREE_TEXT = (*REQUIRED, "datacontenttype", "outputkey", *CARRIED)


def rules_of_events() -> list[Rule]:
    """Return what every event must keep, one that cancels too."""
    return [*_rules_of_the_record(), *_rules_of_attributes()]


def _rules_of_the_record() -> list[Rule]:
    return [
        Rule(
            F.col(MODE) == FOREIGN,
            Reason.NOT_A_CLOUDEVENT,
            "content-type",
            "without ce_ headers is no event; send application/cloudevents+json, or binary mode "
            "with ce_specversion, ce_id, ce_source and ce_type",
            F.col(CONTENT_TYPE),
        ),
        Rule(
            (F.col(MODE) == STRUCTURED) & ~is_readable(),
            Reason.INVALID_JSON,
            "the value",
            "is not one JSON object; send a single object in UTF-8, nothing after it, no unpaired "
            f"surrogates, and at most {DEEPEST} levels in each member",
            F.col(RAW_VALUE).cast("string"),
        ),
    ]


def _rules_of_attributes() -> list[Rule]:
    return [
        Rule(
            is_not_utf8(),
            Reason.INVALID_ATTRIBUTE,
            header_not_utf8(),
            "is not UTF-8; send the header as UTF-8 text",
        ),
        Rule(
            (F.col(MODE) == STRUCTURED) & _looks_nested() & (_nested() != ""),
            Reason.INVALID_ATTRIBUTE,
            _nested(),
            "is an object or an array; send text, a number or a boolean",
        ),
        *[
            Rule(
                attribute(name).isNull() | (attribute(name) == ""),
                Reason.MISSING_ATTRIBUTE,
                name,
                "is missing or empty; every CloudEvent has specversion, id, source and type",
            )
            for name in REQUIRED
        ],
        Rule(
            attribute("specversion") != "1.0",
            Reason.UNSUPPORTED_SPECVERSION,
            "specversion",
            "is not known; send 1.0",
            attribute("specversion"),
        ),
    ]


def _looks_nested() -> Column:
    # Text may well begin with a bracket; only then is it worth a look at how it was written.
    return F.concat_ws("\n", *map(attribute, _FREE_TEXT)).rlike(r"(?m)^[\[{]")


def _nested() -> Column:
    return nested_member(F.col(RAW_VALUE).cast("string"), _FREE_TEXT)
