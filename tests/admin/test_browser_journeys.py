"""What people do in the console, in a real browser, on a real job and both stores."""

import json

from playwright.sync_api import expect

from state.open import open_inspector
from state.row import STATUS, Status
from tests.admin.browsing import Surfer, status_is
from tests.admin.office import Office
from tests.integration.running import in_seconds, wait_for


def _schedule(surfer: Surfer, office: Office, key: str, when: str, payload: str) -> None:
    page = surfer.go("/schedule")
    page.get_by_label("Key", exact=True).fill(key)
    page.get_by_label("Output topic").fill(office.place.out)
    page.get_by_label("When", exact=True).fill(when)
    page.get_by_label("Payload", exact=True).fill(payload)
    page.get_by_role("button", name="Schedule it").click()


def _pending(office: Office, *keys: str, topic: str | None = None) -> None:
    """Have messages pending, and wait until the state knows them."""
    with office.place.client() as client:
        for key in keys:
            at = in_seconds(3600)
            client.schedule(b"{}", topic=topic or office.place.out, key=key, at=at)
    wait_for(lambda: office.place.statuses_of(keys[-1]) != [], "the job to take them")


def _is_dead(office: Office, key: bytes) -> bool:
    rows = open_inspector(office.place.settings.state).versions(key).to_pylist()
    return any(row[STATUS] == Status.DEAD for row in rows)


def test_a_message_from_the_form_waits_fires_and_has_a_receipt(
    operator: Surfer, office: Office
) -> None:
    _schedule(operator, office, "journey", "+4s", '{"hello": "world"}')
    page = operator.page
    operator.sees_outcome("The job has taken it")
    expect(page.locator("#payload")).to_contain_text('"hello": "world"')

    operator.go("/messages", key="journey", status="all")
    expect(page.get_by_role("link", name="journey")).to_be_visible()

    operator.message("journey")
    status_is(page, "done")  # the page is told so while one looks at it
    expect(page.locator("#receipt")).to_contain_text("partition")
    expect(page.locator("#timeline")).to_contain_text("published")


def test_the_form_tells_what_would_become_of_a_message_and_why_not(
    operator: Surfer, office: Office
) -> None:
    operator.allowed.add(422)
    _schedule(operator, office, "wrong", "tomorrow", "x")
    expect(operator.page.get_by_role("alert")).to_contain_text("deliverat")
    expect(operator.page.get_by_label("Payload", exact=True)).to_have_value("x")

    operator.page.get_by_label("When", exact=True).fill("")
    operator.page.get_by_text("Repeat, expiry and more").click()
    operator.page.get_by_label("Repeat every").fill("10m")
    operator.page.get_by_label("How often in all").fill("3")
    operator.page.get_by_role("button", name="Only check it").click()
    expect(operator.page.locator("#planned li")).to_have_count(3)
    assert office.place.statuses_of("wrong") == []


def test_a_replacement_leaves_its_trace(operator: Surfer, office: Office) -> None:
    _pending(office, "replaced")
    page = operator.message("replaced")
    page.get_by_role("link", name="Replace").click()
    page.get_by_label("Payload", exact=True).fill("second")
    page.get_by_role("button", name="Replace it").click()

    operator.sees_outcome("The job has taken it")
    expect(page.locator("#payload")).to_contain_text("second")
    expect(page.locator("#versions .badge")).to_have_text(["pending", "replaced"])


def test_a_cancel_asks_why_and_is_remembered(operator: Surfer, office: Office) -> None:
    _pending(office, "cancelled")
    page = operator.message("cancelled")
    page.get_by_role("link", name="Cancel").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    operator.confirm("paid in time", "Cancel the message")

    operator.sees_outcome("Cancelled")
    status_is(page, "cancelled")
    operator.go("/commands")
    row = page.get_by_role("row").filter(has_text="cancelled").first
    expect(row).to_contain_text("olga")
    expect(row).to_contain_text("paid in time")


def test_nothing_is_done_by_who_thinks_better_of_it(operator: Surfer, office: Office) -> None:
    _pending(office, "kept")
    page = operator.message("kept")
    page.get_by_role("link", name="Cancel").click()
    page.get_by_role("link", name="Do nothing").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert office.place.statuses_of("kept") == ["pending"]


def test_a_message_gets_another_instant_and_is_sent_now(operator: Surfer, office: Office) -> None:
    _pending(office, "moved")
    page = operator.message("moved")
    page.get_by_role("link", name="Reschedule").click()
    page.get_by_label("When", exact=True).fill("2031-02-03T04:05:06Z")
    operator.confirm("a holiday", "Reschedule")
    operator.sees_outcome("new instant")
    expect(page.locator("#facts")).to_contain_text("2031-02-03 04:05:06")

    page.get_by_role("link", name="Send now").click()
    operator.confirm("no holiday", "Send now")
    status_is(page, "done")


def test_many_are_cancelled_after_they_were_counted(operator: Surfer, office: Office) -> None:
    _pending(office, "many-1", "many-2", "many-3", "other")
    page = operator.go("/messages")
    page.get_by_label("Key begins with").fill("many-")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_role("link", name="other")).to_have_count(0)
    assert "key=many-" in page.url
    page.get_by_role("button", name="Count them first").click()
    expect(page.locator("#number")).to_have_text("3 messages")
    assert office.place.statuses_of("many-1") == ["pending"]  # a count does nothing

    operator.confirm("no more", "Cancel: 3 messages")
    operator.sees_outcome("3 keys")
    wait_for(
        lambda: all(office.place.statuses_of(f"many-{n}") == ["cancelled"] for n in (1, 2, 3)),
        "all three to be cancelled",
    )
    assert office.place.statuses_of("other") == ["pending"]


def test_those_chosen_one_by_one_are_meant_and_no_others(operator: Surfer, office: Office) -> None:
    _pending(office, "one-1", "one-2", "one-3")
    page = operator.go("/messages", key="one-")
    cancel = page.get_by_role("button", name="Cancel")
    expect(cancel).to_be_disabled()
    page.get_by_label("Choose one-1").check()
    page.get_by_label("Choose one-3").check()
    cancel.click()
    expect(page.locator("#number")).to_have_text("2 messages")
    operator.confirm("these two", "Cancel: 2 messages")
    wait_for(lambda: office.place.statuses_of("one-3") == ["cancelled"], "the cancel")
    assert office.place.statuses_of("one-2") == ["pending"]


def test_a_dead_letter_is_mended_and_sent_again(operator: Surfer, office: Office) -> None:
    event = b'{"specversion":"1.0","id":"1","source":"/t","type":"t","deliverat":"soon"}'
    with office.place.client() as client:
        client.forward(b"broken", event)
    page = operator.page
    wait_for(lambda: _is_dead(office, b"broken"), "the dead letter to be out")
    operator.go("/dead-letters")
    page.get_by_role("link", name="broken").click()
    assert json.loads(page.locator("#event").input_value()) == json.loads(event)
    good = f'{{"outputtopic": "{office.place.out}", "delayby": "1s", "data": "mended"}}'
    page.locator("#event").fill(good)
    operator.confirm("a typo", "Send it mended")

    operator.sees_outcome("The job has taken it")
    status_is(page, "done")
    expect(page.locator("#payload")).to_contain_text("mended")


def test_a_topic_is_paused_and_resumed(operator: Surfer, office: Office, aside: str) -> None:
    _pending(office, "held", topic=aside)
    page = operator.go("/topics")
    page.get_by_role("link", name=f"Pause {aside}").click()
    operator.confirm("maintenance", "Pause")
    operator.sees_outcome("Paused")
    row = page.get_by_role("row").filter(has_text=aside)
    page = operator.go("/topics")
    expect(row).to_contain_text("paused")

    page.get_by_role("link", name=f"Resume {aside}").click()
    operator.confirm("done", "Resume")
    operator.sees_outcome("Resumed")
    operator.go("/topics")
    expect(row).not_to_contain_text("paused")


def test_a_key_is_paused_and_resumed(operator: Surfer, office: Office) -> None:
    _pending(office, "held-alone")
    page = operator.message("held-alone")
    page.get_by_role("link", name="Pause").click()
    operator.confirm("wait", "Pause")
    operator.sees_outcome("Paused")
    status_is(page, "paused")
    page.get_by_role("link", name="Resume").click()
    operator.confirm("go on", "Resume")
    operator.sees_outcome("Resumed")
    status_is(page, "pending")
