"""One order about many keys: told first, then given, and only about what was seen."""

from tests.admin.asking import event, new_key, refused
from tests.admin.office import Office
from tests.integration.running import wait_for


def some(office: Office, count: int) -> tuple[str, list[str]]:
    """Schedule some messages whose keys begin alike, and wait until the job has them."""
    stem = new_key("bulk")
    keys = [f"{stem}-{n}" for n in range(count)]
    with office.ask() as asking:
        for key in keys:
            asking.put(f"/v1/messages/{key}", json=event(office))
        wait_for(lambda: len(statuses(office, keys)) == count, "the job to take them")
    return stem, keys


def statuses(office: Office, keys: list[str]) -> list[str]:
    return [status for key in keys for status in office.place.statuses_of(key)[-1:]]


def test_a_dry_run_tells_and_changes_nothing(office: Office) -> None:
    stem, keys = some(office, 3)
    with office.ask() as asking:
        answer = asking.post("/v1/bulk", json={"action": "cancel", "where": {"key_prefix": stem}})

    assert answer.status_code == 200
    said = answer.json()
    assert (said["dry_run"], said["count"], sorted(said["first"])) == (True, 3, keys)
    assert statuses(office, keys) == ["pending"] * 3


def test_a_real_run_acts_if_the_number_is_the_one_expected(office: Office) -> None:
    stem, keys = some(office, 3)
    order = {"action": "cancel", "where": {"key_prefix": stem}, "dry_run": False, "reason": "why"}
    with office.ask() as asking:
        assert refused(asking.post("/v1/bulk", json=order | {"expect": 2})) == (
            409,
            "count_differs",
        )
        done = asking.post("/v1/bulk", json=order | {"expect": 3})
        assert (done.status_code, done.json()["count"]) == (202, 3)
        wait_for(lambda: statuses(office, keys) == ["cancelled"] * 3, "the cancels")
        told = asking.get("/v1/commands", params={"key": keys[0]}).json()["commands"]

    assert [(each["actor"], each["reason"]) for each in told] == [("olga", "why")]


def test_keys_can_be_named_one_by_one(office: Office) -> None:
    _, keys = some(office, 3)
    order = {"action": "dispatch", "where": {"keys": [*keys[:2], "nobody"]}, "dry_run": False}
    with office.ask() as asking:
        assert asking.post("/v1/bulk", json=order).json()["count"] == 2
        wait_for(lambda: statuses(office, keys) == ["done", "done", "pending"], "both to go out")


def test_an_order_that_the_job_would_refuse_is_told_already_by_the_dry_run(
    office: Office,
) -> None:
    where = {"key_prefix": new_key()}
    with office.ask() as asking:
        order = {"action": "reschedule", "where": where}
        assert refused(asking.post("/v1/bulk", json=order)) == (422, "missing_attribute")
        soon = order | {"deliverat": "soon"}
        assert refused(asking.post("/v1/bulk", json=soon)) == (422, "invalid_time")


def test_everything_at_once_cannot_be_meant(office: Office) -> None:
    with office.ask() as asking:
        answer = asking.post("/v1/bulk", json={"action": "cancel", "where": {}})
        assert refused(answer) == (422, "nothing_chosen")
        unknown = asking.post("/v1/bulk", json={"action": "cancel", "where": {"tpoic": "t"}})
        assert refused(unknown) == (422, "invalid_request")
