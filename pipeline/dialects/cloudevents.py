"""Reads CloudEvents, structured or binary, as commands to schedule or to cancel a message."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.asked import IN_SECOND_FORM, SAID_BY_COMMANDS, TIMED
from pipeline.commands import ALIKE, NO_COMMAND, Command
from pipeline.commands import ATTRIBUTES as COMMANDED
from pipeline.dialects.attributes import (
    BASE64,
    BINARY,
    CARRIED,
    CONTENT_TYPE,
    DATA,
    EVENT,
    MODE,
    TOMBSTONE,
    attribute,
    with_event,
)
from pipeline.dialects.event_rules import nested_attribute, rules_of_events
from pipeline.dialects.json_text import scalar_text
from pipeline.dialects.put_rules import rules_of_puts
from pipeline.dialects.record import as_it_came, as_lines, kept_content, with_content
from pipeline.dialects.wishes import (
    MESSAGE,
    WISH,
    in_second_form,
    names,
    wish,
    with_due,
    with_wishes,
)
from pipeline.raw import CONTROL, RAW_VALUE
from pipeline.reasons import Reason
from pipeline.refuse import Rule, refuse
from state.row import (
    DUE,
    ENTRY,
    HEADERS,
    KEY,
    OUTPUT_KEY,
    OUTPUT_PARTITION,
    OUTPUT_TOPIC,
    PAYLOAD,
    POLICY,
    Entry,
)
from state.rules.asked import ATTRIBUTES as POLICIES

_HEADER = "struct<key:string,value:binary>"


def decode(records: DataFrame) -> DataFrame:
    """Turn Kafka records into commands; what cannot be read has a verdict, and facts about it.

    Besides the columns of a command the result has those of pipeline.raw, for the dead letter.
    """
    return (
        records.transform(as_it_came)
        .transform(with_event)
        .transform(with_wishes)
        .transform(with_due)
        .transform(refuse, _rules())
        .transform(with_content, _puts(), _content())
        .transform(as_lines, _facts(), _decided())
    )


def _rules() -> list[Rule]:
    an_event = F.col(MODE) != TOMBSTONE
    return [
        *[rule._replace(broken=an_event & rule.broken) for rule in rules_of_events()],
        Rule(
            _puts() & attribute("type").rlike(ALIKE),
            Reason.INVALID_COMMAND,
            f"type{{event[type]}} {NO_COMMAND}",
        ),
        *[rule._replace(broken=_puts() & rule.broken) for rule in rules_of_puts()],
    ]


def _decided() -> dict[str, Column]:
    return {
        ENTRY: F.when(_cancels(), Entry.CANCEL.value)
        .when(_commands(), CONTROL)
        .otherwise(Entry.PUT.value),
        POLICY: F.when(_commands(), _command_text()).otherwise(kept_content(POLICY)),
    }


def _content() -> dict[str, Column]:
    return {
        OUTPUT_TOPIC: wish("outputtopic"),
        OUTPUT_PARTITION: wish("outputpartition").try_cast("int"),
        OUTPUT_KEY: F.coalesce(wish("outputkey").cast("binary"), F.col(KEY)),
        PAYLOAD: _payload(),
        HEADERS: _headers(),
        DUE: F.col(DUE),
        POLICY: _policy(),
    }


def _facts() -> dict[str, Column]:
    return {
        "event": F.col(EVENT),
        "wish": F.col(WISH),
        "names": names(),
        "content_type": F.col(CONTENT_TYPE),
        "message": F.col(MESSAGE),
        "nested": nested_attribute(),
    }


def _commands() -> Column:
    """Tell whether the event is a command that has more to say than that its key is cancelled."""
    more = F.coalesce(*map(attribute, COMMANDED)).isNotNull()
    told = _is_of(*Command) & (~_is_of(Command.CANCEL) | more)
    return (F.col(MODE) != TOMBSTONE) & told


def _cancels() -> Column:
    return (F.col(MODE) == TOMBSTONE) | (_is_of(Command.CANCEL) & ~_commands())


def _puts() -> Column:
    return (F.col(MODE) != TOMBSTONE) & ~_is_of(*Command)


def _is_of(*commands: Command) -> Column:
    said = attribute("type").isin(*[command.type for command in commands])
    return F.coalesce(said, F.lit(False))


def _command_text() -> Column:
    """Return what a command says, for pipeline.asked to read."""
    return F.to_json(F.struct(*[attribute(name).alias(name) for name in SAID_BY_COMMANDS]))


def _policy() -> Column:
    """Return what the event asks for besides, for pipeline.asked to read."""
    asked = [wish(name) for name in POLICIES]
    given = {name: wish(name) for name in POLICIES}
    given[TIMED] = F.when(F.coalesce(wish("deliverat"), wish("delayby")).isNotNull(), "true")
    given[IN_SECOND_FORM] = F.when(in_second_form(), "true")
    as_json = F.to_json(F.struct(*[value.alias(name) for name, value in given.items()]))
    return F.when(F.coalesce(*asked).isNotNull(), as_json)


def _payload() -> Column:
    written = F.coalesce(F.col(MESSAGE), F.col(DATA))
    return (
        F.when(F.col(MODE) == BINARY, F.col(RAW_VALUE))
        .when(attribute(BASE64).isNotNull(), F.unbase64(attribute(BASE64)))
        .otherwise(scalar_text(written).cast("binary"))
    )


def _headers() -> Column:
    carried = {
        "content-type": attribute("datacontenttype"),
        **{name: attribute(name) for name in CARRIED},
    }
    given = F.array(*[_header(name, value) for name, value in carried.items()])
    absent = F.array(F.lit(None).cast(_HEADER))
    some = ~in_second_form() & F.coalesce(*carried.values()).isNotNull()
    return F.when(some, F.array_except(given, absent))


def _header(name: str, value: Column) -> Column:
    header = F.struct(F.lit(name).alias("key"), value.cast("binary").alias("value"))
    return F.when(value.isNotNull(), header)
