"""The CloudEvents SDK as oracle: what it writes and reads, we read as the same event.

Where it is more lenient we are not followed here: it invents a missing id, time and specversion,
takes bad base64 and header names in any case. Data is held against what was written, not against
what it reads back: it turns numbers into floats.
"""

import json
from datetime import UTC, datetime, timedelta

from cloudevents.core.bindings import kafka
from cloudevents.core.v1.event import CloudEvent
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka_records import decode_all, record

_MICROSECOND = timedelta(microseconds=1)

letters = st.characters(exclude_categories=["Cs"])
words = st.text(letters, min_size=1, max_size=6)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=3,
)
instants = st.datetimes(datetime(1971, 1, 1), datetime(2100, 1, 1))  # noqa: DTZ001  made UTC below
attributes = st.fixed_dictionaries(
    {"id": words, "source": words, "type": words, "outputtopic": words, "at": instants},
    optional={
        "outputkey": words,
        "correlationid": words,
        "traceparent": words,
        "myextension": words,
        "subject": words,
    },
)
data = st.binary(max_size=20) | words | st.dictionaries(words, json_values, max_size=2)


def _event(drawn, said):
    at = drawn["at"].replace(tzinfo=UTC)
    given_attributes = {name: value for name, value in drawn.items() if name != "at"}
    given_attributes |= {"specversion": "1.0", "deliverat": at.isoformat().replace("+00:00", "Z")}
    return CloudEvent({**given_attributes, "time": at, "datacontenttype": "application/json"}, said)


def _published(event):
    """What must go out: bytes and text as they are, anything else as the SDK writes JSON."""
    said = event.get_data()
    if isinstance(said, bytes):
        return said
    return said.encode() if isinstance(said, str) else json.dumps(said).encode()


def _check(event, command):
    assert command.reason is None, command.detail
    assert command.output_topic == event.get_extension("outputtopic")
    key = event.get_extension("outputkey")
    assert bytes(command.output_key) == (b"k" if key is None else key.encode())
    at = datetime.fromisoformat(event.get_extension("deliverat"))
    assert command.due == (at - datetime(1970, 1, 1, tzinfo=UTC)) // _MICROSECOND
    headers = {header["key"]: bytes(header["value"]).decode() for header in command.headers}
    for name in ("correlationid", "traceparent"):
        assert headers.get(name) == event.get_extension(name)
    assert headers["content-type"] == event.get_datacontenttype()
    assert bytes(command.payload) == _published(event)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(attributes, data), min_size=15, max_size=15))
def test_what_the_sdk_writes_in_either_mode_is_read_as_the_event_it_was(spark, drawn):
    events, cases = {}, {}
    for number, (given_attributes, said) in enumerate(drawn):
        for mode, write in (("s", kafka.to_structured_event), ("b", kafka.to_binary_event)):
            event = _event(given_attributes, said)
            message = write(event)
            assert kafka.from_kafka_event(message).get_id() == event.get_id()
            events[f"{mode}{number}"] = event
            cases[f"{mode}{number}"] = record(message.value, list(message.headers.items()))
    for name, command in decode_all(spark, cases).items():
        _check(events[name], command)
