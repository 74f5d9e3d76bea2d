"""The rules every CloudEvent must keep to be read; the first one broken is its reason."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from pipeline.dialects.attributes import (
    ATTRIBUTES,
    BINARY,
    CARRIED,
    CONTENT_TYPE,
    FOREIGN,
    MODE,
    REQUIRED,
    STRUCTURED,
    attribute,
    is_readable,
)
from pipeline.dialects.json_text import DEEPEST, is_nested, raw_member
from pipeline.raw import RAW_VALUE
from pipeline.reasons import Reason
from pipeline.refuse import Rule, first_named, quoted, rule_naming, sentence

_FREE_TEXT = (*REQUIRED, "datacontenttype", "outputkey", *CARRIED)


def rules_of_events() -> list[Rule]:
    """Return what every event must keep, one that cancels too."""
    return [
        Rule(
            F.col(MODE) == FOREIGN,
            Reason.NOT_A_CLOUDEVENT,
            sentence(
                "content-type ",
                quoted(F.col(CONTENT_TYPE)),
                " without ce_ headers is no event; send application/cloudevents+json, or binary "
                "mode with ce_specversion, ce_id, ce_source and ce_type",
            ),
        ),
        Rule(
            (F.col(MODE) == STRUCTURED) & ~is_readable(),
            Reason.INVALID_JSON,
            sentence(
                "the value ",
                quoted(F.col(RAW_VALUE).cast("string")),
                " is not one JSON object; send a single object in UTF-8, nothing after it, no "
                f"unpaired surrogates, and at most {DEEPEST} levels in each member",
            ),
        ),
        rule_naming(
            F.when(F.col(MODE) == BINARY, first_named(ATTRIBUTES, _is_not_utf8)),
            Reason.INVALID_ATTRIBUTE,
            " is not UTF-8; send the header as UTF-8 text",
        ),
        rule_naming(
            F.when(F.col(MODE) == STRUCTURED, first_named(_FREE_TEXT, _is_not_scalar)),
            Reason.INVALID_ATTRIBUTE,
            " is an object or an array; send text, a number or a boolean",
        ),
        rule_naming(
            first_named(("specversion", *REQUIRED), _is_missing),
            Reason.MISSING_ATTRIBUTE,
            " is missing or empty; every CloudEvent has specversion, id, source and type",
        ),
        Rule(
            attribute("specversion") != "1.0",
            Reason.UNSUPPORTED_SPECVERSION,
            sentence("specversion ", quoted(attribute("specversion")), " is not known; send 1.0"),
        ),
    ]


def _is_not_utf8(name: str) -> Column:
    return ~F.is_valid_utf8(attribute(name))


def _is_not_scalar(name: str) -> Column:
    # Text may well begin with a bracket; only then is it worth a look at how it was written.
    written = raw_member(F.col(RAW_VALUE).cast("string"), name)
    return is_nested(attribute(name)) & is_nested(written)


def _is_missing(name: str) -> Column:
    return attribute(name).isNull() | (attribute(name) == "")
