"""The rules every CloudEvent must keep to be read; the first one broken is its reason."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from pipeline.dialects.attributes import (
    CARRIED,
    FOREIGN,
    MODE,
    REQUIRED,
    STRUCTURED,
    attribute,
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
            "content-type{content_type} without ce_ headers is no event; send "
            "application/cloudevents+json, or binary mode with ce_specversion, ce_id, ce_source "
            "and ce_type",
        ),
        Rule(
            (F.col(MODE) == STRUCTURED) & ~is_readable(),
            Reason.INVALID_JSON,
            "the value{value} is not one JSON object; send a single object in UTF-8, nothing after "
            f"it, no unpaired surrogates, and at most {DEEPEST} levels in each member",
        ),
    ]


def _rules_of_attributes() -> list[Rule]:
    return [
        Rule(
            is_not_utf8(),
            Reason.INVALID_ATTRIBUTE,
            "{bad_headers} is not UTF-8; send the header as UTF-8 text",
        ),
        Rule(
            (F.col(MODE) == STRUCTURED) & _looks_nested() & (nested_attribute() != ""),
            Reason.INVALID_ATTRIBUTE,
            "the attribute{nested} is an object or an array; send text, a number or a boolean",
        ),
        *[
            Rule(
                F.coalesce(attribute(name), F.lit("")) == "",
                Reason.MISSING_ATTRIBUTE,
                f"{name} is missing or empty; every CloudEvent has specversion, id, source and "
                "type",
            )
            for name in REQUIRED
        ],
        Rule(
            attribute("specversion") != "1.0",
            Reason.UNSUPPORTED_SPECVERSION,
            "specversion{event[specversion]} is not known; send 1.0",
        ),
    ]


def nested_attribute() -> Column:
    """Return which attribute of a structured event is an object or an array, empty if none is."""
    return nested_member(F.col(RAW_VALUE).cast("string"), _FREE_TEXT)


def _looks_nested() -> Column:
    # Text may well begin with a bracket; only then is it worth a look at how it was written.
    return F.concat_ws("\n", *map(attribute, _FREE_TEXT)).rlike(r"(?m)^[\[{]")
