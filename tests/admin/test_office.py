"""The web process beside a job: it counts what the job has taken."""

from tests.admin.office import VIEWER, Office
from tests.integration.running import in_seconds, wait_for


def test_a_viewer_sees_what_the_job_has_taken(office: Office) -> None:
    with office.place.client() as client:
        client.schedule(b"x", topic=office.place.out, key="seen", at=in_seconds(3600))

    with office.ask(VIEWER) as asking:
        wait_for(
            lambda: asking.get("/v1/stats").json().get("accepted", 0) >= 1, "the job to take it"
        )


def test_who_bears_no_token_is_told_to(office: Office) -> None:
    with office.ask(None) as asking:
        answer = asking.get("/v1/stats")

    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["reason"] == "not_authenticated"
    assert "Bearer" in answer.headers["www-authenticate"]
