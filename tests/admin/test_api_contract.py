"""The running server keeps to its description, whatever it is sent; made up by schemathesis."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.admin.asking import WAIT, new_key, put, refused
from tests.admin.office import OPERATOR, Office
from tests.admin.test_api_letters import broken, letter_of

DOCUMENT = Path(__file__).parents[2] / "conf/openapi.json"
SCHEMA = schemathesis.openapi.from_path(DOCUMENT)
OPERATIONS = {each.ok().label: each.ok() for each in SCHEMA.get_all_operations()}
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
EXAMPLES = 6
# Texts that are made up are hardly ever instants, so half of the cases get some that are.
SENSIBLE = {
    "wait": "1ms",
    "from": "+1m",
    "to": "+2h",
    "step": "1m",
    "since": "-1h",
    "due_from": "-1h",
    "due_to": "+9h",
    "deliverat": "2030-01-31T09:00:00Z",
    "delayby": "1h",
}


@pytest.fixture(scope="module")
def furnished(office: Office) -> Iterator[tuple[Office, str, str]]:
    """An office with messages of several ends in its state; a key, and the id of a dead letter."""
    key = new_key("contract")
    with office.ask() as asking:
        put(asking, office, key, repeatevery="1h", repeatcount="5")
        put(asking, office, f"{key}-done", delayby="0s")
        asking.delete(f"/v1/messages/{key}-gone?{WAIT}")
        letter = letter_of(asking, broken(office))
        yield office, key, letter["id"]
        freed = asking.post(f"/v1/dispatch/resume?{WAIT}", json={"scope": "all"})
        assert freed.status_code == 200  # whatever was paused by a made-up request


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=str)
@pytest.mark.parametrize("label", OPERATIONS)
def test_every_answer_is_one_that_is_described(
    furnished: tuple[Office, str, str], label: str, mode: GenerationMode
) -> None:
    office, key, letter = furnished
    operation = OPERATIONS[label]
    if mode is GenerationMode.NEGATIVE and not (operation.body or operation.query):
        mode = GenerationMode.POSITIVE
    asked = 0

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(mode))
    def ask(case: Case) -> None:
        nonlocal asked
        asked += 1
        if asked % 2:
            _make_sensible(case, office, key, letter)
        headers = {"Authorization": f"Bearer {OPERATOR}"}
        response = case.call(base_url=office.url, headers=headers)
        case.validate_response(response, checks=CHECKS, headers=headers)

    ask()
    assert asked


def test_every_operation_asks_who_it_is(office: Office) -> None:
    with office.ask(None) as asking:
        for operation in OPERATIONS.values():
            path = operation.path.replace("{key}", "k").replace("{id}", "x")
            answer = asking.request(operation.method, path, json={})
            assert refused(answer) in ((401, "not_authenticated"),), operation.label


def test_the_description_is_served_as_it_is_published(office: Office) -> None:
    with httpx.Client() as asking:
        served = asking.get(f"{office.url}/v1/openapi.json").json()

    assert served == json.loads(DOCUMENT.read_text())


def _make_sensible(case: Case, office: Office, key: str, letter: str) -> None:
    names = case.path_parameters or {}
    names |= {name: value for name, value in {"key": key, "id": letter}.items() if name in names}
    for part in (case.query, case.body, _where(case.body)):
        if isinstance(part, dict):
            part |= {name: value for name, value in SENSIBLE.items() if name in part}
            part.pop("cursor", None)
            part.pop("source", None)
            if "outputtopic" in part:
                part["outputtopic"] = office.place.out


def _where(body: Any) -> Any:
    return body.get("where") if isinstance(body, dict) else None
