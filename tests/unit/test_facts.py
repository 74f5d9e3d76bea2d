"""The sentence about a refused record: its values in quotes, the names of its fields without."""

import json

from pipeline.facts import facts_of
from pipeline.raw import FACTS, RAW_HEADERS, RAW_VALUE
from state.row import DUE, KEY, OUTPUT_TOPIC, PAYLOAD


def test_a_field_is_named_and_its_value_quoted() -> None:
    said = {"names": {"deliverat": "startAt"}, "wish": {"deliverat": "noon"}}
    bare = dict.fromkeys((RAW_HEADERS, RAW_VALUE, DUE, KEY, OUTPUT_TOPIC, PAYLOAD))
    facts = facts_of({**bare, FACTS: json.dumps(said)})
    sentence = "{names[deliverat]}{wish[deliverat]} is no instant{wish[delayby]}"
    assert sentence.format_map(facts) == "startAt 'noon' is no instant"
