"""Conditions: of writers who saw the same version only one succeeds."""

from concurrent.futures import ThreadPoolExecutor

from tests.admin.asking import WAIT, event, new_key, put, refused
from tests.admin.office import Office


def test_if_match_takes_the_version_that_is_pending_and_no_other(office: Office) -> None:
    key = new_key()
    with office.ask() as asking:
        first = put(asking, office, key).headers["etag"]
        second = asking.put(
            f"/v1/messages/{key}?{WAIT}", json=event(office), headers={"if-match": first}
        )
        assert second.status_code == 200
        assert asking.get(f"/v1/messages/{key}").headers["etag"] == second.headers["etag"]
        late = asking.put(f"/v1/messages/{key}", json=event(office), headers={"if-match": first})
        assert refused(late) == (412, "version_differs")
        assert late.json()["version"] == second.json()["version"]
        gone = asking.delete(f"/v1/messages/{key}", headers={"if-match": first})
        assert refused(gone) == (412, "version_differs")


def test_of_many_writers_within_a_tick_one_succeeds(office: Office) -> None:
    key = new_key()
    with office.ask() as asking, ThreadPoolExecutor(8) as many:
        seen = put(asking, office, key).headers["etag"]

        def write(number: int) -> int:
            return asking.put(
                f"/v1/messages/{key}",
                json=event(office, data=str(number)),
                headers={"if-match": seen},
            ).status_code

        statuses = sorted(many.map(write, range(8)))

    assert statuses == [202] + [412] * 7


def test_if_none_match_schedules_only_if_nothing_is_pending(office: Office) -> None:
    key, only_new = new_key(), {"if-none-match": "*"}
    with office.ask() as asking:
        at = f"/v1/messages/{key}"
        assert asking.put(at, json=event(office), headers=only_new).status_code == 202
        second = asking.put(at, json=event(office), headers=only_new)
        assert refused(second) == (412, "version_differs")
        assert asking.delete(f"{at}?{WAIT}").status_code == 200
        assert asking.put(at, json=event(office), headers=only_new).status_code == 202


def test_a_cancel_that_is_on_its_way_counts_already(office: Office) -> None:
    key = new_key()
    with office.ask() as asking:
        seen = put(asking, office, key).headers["etag"]
        asking.delete(f"/v1/messages/{key}")
        late = asking.put(f"/v1/messages/{key}", json=event(office), headers={"if-match": seen})

    assert refused(late) == (412, "version_differs")


def test_the_job_itself_holds_a_command_to_the_version(office: Office) -> None:
    key = new_key()
    with office.ask() as asking, office.place.client() as client:
        seen = put(asking, office, key).headers["etag"]
        # Past this server, so that only the job can know when the command comes.
        client.schedule("direct", topic=office.place.out, key=key, delay="1h")
        answer = asking.delete(f"/v1/messages/{key}?{WAIT}", headers={"if-match": seen})
        assert refused(answer) == (412, "version_differs")
        assert asking.get(f"/v1/messages/{key}").json()["message"]["payload"] == "direct"


def test_a_condition_that_cannot_be_read_is_told(office: Office) -> None:
    with office.ask() as asking:
        for headers in (
            {"if-match": "0-17"},
            {"if-none-match": '"0-17"'},
            {"if-match": "*", "if-none-match": "*"},
        ):
            answer = asking.put("/v1/messages/k", json=event(office), headers=headers)
            assert refused(answer) == (422, "invalid_request")


def test_a_weak_tag_matches_nothing(office: Office) -> None:
    key = new_key()
    with office.ask() as asking:
        seen = put(asking, office, key).headers["etag"]
        answer = asking.delete(f"/v1/messages/{key}", headers={"if-match": f"W/{seen}"})

    assert refused(answer) == (412, "version_differs")
