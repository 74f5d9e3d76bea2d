"""How tests of the API send events and look at what came of them."""

from typing import Any
from uuid import uuid4

import httpx

from tests.admin.office import Office

WAIT = "wait=60s"


def new_key(stem: str = "k") -> str:
    """A key that no other test has."""
    return f"{stem}-{uuid4().hex}"


def event(office: Office, **more: Any) -> dict[str, Any]:
    """An event for the office's output topic, due in an hour unless it says otherwise."""
    when = {} if "deliverat" in more or "delayby" in more else {"delayby": "1h"}
    return {"outputtopic": office.place.out, "data": "x", **when, **more}


def put(asking: httpx.Client, office: Office, key: str, **more: Any) -> httpx.Response:
    """Schedule a message and wait until the job has it."""
    answer = asking.put(f"/v1/messages/{key}?{WAIT}", json=event(office, **more))
    assert answer.status_code == 200, answer.text
    return answer


def refused(answer: httpx.Response) -> tuple[int, str]:
    """The status and the reason of a problem, which is what the answer must be."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    said = answer.json()
    assert said["status"] == answer.status_code and said["detail"] and said["title"]
    return answer.status_code, said["reason"]
