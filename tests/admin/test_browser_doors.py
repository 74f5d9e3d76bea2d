"""Who may not act, and who is not known, in a real browser."""

from playwright.sync_api import Browser, expect

from tests.admin.browsing import Surfer, surfing
from tests.admin.office import OPERATOR, Office
from tests.integration.running import in_seconds, wait_for

_ACTIONS = "main form[method=post], [data-dialog], a[href*='/schedule']"


def _pending(office: Office, key: str) -> None:
    with office.place.client() as client:
        client.schedule(b"x", topic=office.place.out, key=key, at=in_seconds(3600))
    wait_for(lambda: office.place.statuses_of(key) != [], "the job to take it")


def test_a_viewer_sees_everything_and_is_offered_nothing(viewer: Surfer, office: Office) -> None:
    _pending(office, "seen-by-vera")
    for path in ("/", "/messages", "/topics", "/repeats", "/dead-letters", "/system"):
        page = viewer.go(path)
        expect(page.locator("main h1")).to_be_visible()
        expect(page.get_by_text("You may look and not act")).to_be_visible()
        assert page.locator(_ACTIONS).count() == (1 if path == "/messages" else 0)
    page = viewer.message("seen-by-vera")
    expect(page.locator("#payload")).to_contain_text("x")
    assert page.locator("main [data-dialog]").count() == 0


def test_a_viewer_who_finds_the_address_may_not_act_either(viewer: Surfer, office: Office) -> None:
    _pending(office, "safe-from-vera")
    viewer.allowed.add(403)
    page = viewer.go("/act", do="cancel", key="safe-from-vera")
    expect(page.get_by_role("heading", name="Not allowed")).to_be_visible()
    expect(page.locator("#sentence")).to_contain_text("vera may look and not act")

    token = viewer.go("/system").locator("input[name=csrf]").first.get_attribute("value")
    page.set_content(
        f"<form method=post action='{office.url}/act'><input name=csrf value='{token}'>"
        "<input name=do value=cancel><input name=key value=safe-from-vera>"
        "<input name=reason value=why><button>go</button></form>"
    )
    with page.expect_response(lambda answer: answer.request.method == "POST") as answered:
        page.get_by_role("button").click()
    assert answered.value.status == 403
    assert office.place.statuses_of("safe-from-vera") == ["pending"]


def test_who_has_no_token_is_asked_for_one_and_comes_to_where_they_wanted(
    browser: Browser, office: Office
) -> None:
    with surfing(browser, office.url) as surfer:
        surfer.allowed.add(401)
        page = surfer.go("/messages", status="done")
        expect(page.get_by_role("heading", name="Log in")).to_be_visible()
        page.get_by_label("Token").fill("no such token")
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("alert")).to_contain_text("not known")

        page.get_by_label("Token").fill(OPERATOR)
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("heading", name="Messages")).to_be_visible()
        assert page.url.endswith("/messages?status=done")

        page.get_by_role("button", name="Log out").click()
        expect(page.get_by_role("heading", name="Log in")).to_be_visible()
        surfer.go("/messages")
        expect(page.get_by_role("heading", name="Log in")).to_be_visible()


def test_a_form_of_another_page_does_nothing(operator: Surfer, office: Office) -> None:
    _pending(office, "not-forged")
    operator.allowed.add(403)
    page = operator.go("/act", do="cancel", key="not-forged")
    page.locator("input[name=csrf]").first.evaluate("field => field.value = 'guessed'")
    page.locator("main input[name=csrf]").evaluate("field => field.value = 'guessed'")
    operator.confirm("forged", "Cancel the message")
    expect(page.get_by_role("heading", name="Not allowed")).to_be_visible()
    assert office.place.statuses_of("not-forged") == ["pending"]
