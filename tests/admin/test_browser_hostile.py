"""Hostile keys and payloads are shown, never executed, in a real browser."""

from playwright.sync_api import expect

from pipeline.keys import key_text
from tests.admin.browsing import Surfer
from tests.admin.office import Office
from tests.integration.running import in_seconds, wait_for

_HTML = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'--></textarea>"
_TURNED = "abc\u202etxt.exe\u202c \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627"
_CONTROL = "bell\x07 null\x00 escape\x1b[31m delete\x7f tab\tend"


def _schedule(office: Office, key: str | bytes, payload: bytes, **more: object) -> None:
    with office.place.client() as client:
        client.schedule(
            payload,
            topic=office.place.out,
            key=key,
            at=in_seconds(7200),
            headers={"x-hostile": _HTML.encode()},
        )
    name = key.decode() if isinstance(key, bytes) else key
    wait_for(lambda: office.place.statuses_of(name) != [], "the job to take it")


def test_html_in_keys_payloads_and_headers_is_text(operator: Surfer, office: Office) -> None:
    _schedule(office, f"h/../{_HTML}", _HTML.encode())
    page = operator.go("/messages", key="h/")
    page.get_by_role("link", name="h/../<script>").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("<script>alert(1)</script>")
    expect(page.locator("#payload pre")).to_contain_text(_HTML)
    assert page.evaluate("document.querySelectorAll('main img, main script').length") == 0

    page.get_by_role("link", name="Replace").click()
    expect(page.locator("#f-payload")).to_have_value(_HTML)
    operator.message(f"h/../{_HTML}").get_by_role("link", name="Cancel").click()
    operator.confirm(_HTML, "Cancel the message")
    operator.sees_outcome("Cancelled")
    expect(operator.go("/commands").get_by_text(_HTML).first).to_be_visible()


def test_text_from_right_to_left_and_signs_that_turn_it_are_shown_as_such(
    operator: Surfer, office: Office
) -> None:
    _schedule(office, "\u05de\u05e4\u05ea\u05d7 \u0645\u0641\u062a\u0627\u062d", _TURNED.encode())
    page = operator.message("\u05de\u05e4\u05ea\u05d7 \u0645\u0641\u062a\u0627\u062d")
    expect(page.get_by_role("heading", level=1)).to_contain_text("\u05de\u05e4\u05ea\u05d7")
    page.get_by_role("link", name="Text", exact=True).click()
    expect(page.locator("#payload .sign").first).to_have_text("U+202E")
    assert "\u202e" not in page.locator("#payload pre").inner_text()


def test_control_characters_are_seen_and_their_key_is_found(
    operator: Surfer, office: Office
) -> None:
    key = b"k\x00\x07\x1b"
    _schedule(office, key, _CONTROL.encode())
    page = operator.message(key_text(key))
    expect(page.get_by_role("heading", level=1)).to_have_text("0x6b00071b")
    page.get_by_role("link", name="Text", exact=True).click()
    expect(page.locator("#payload .sign")).to_have_text(["\u2407", "\u2400", "\u241b", "\u2421"])
    page.get_by_role("link", name="Hex").click()
    expect(page.locator("#payload pre")).to_contain_text("62 65 6c 6c 07")


def test_a_megabyte_is_shown_in_part_and_saved_whole(operator: Surfer, office: Office) -> None:
    payload = (b"<b>0123456789</b>" * 60_000)[:998_000]  # with its key and headers a megabyte
    _schedule(office, "megabyte", payload)
    page = operator.message("megabyte")
    expect(page.locator("#payload")).to_contain_text("998.0 kB")
    expect(page.locator("#payload")).to_contain_text("download it to see all")
    assert len(page.locator("#payload pre").inner_text()) <= 100_000
    with page.expect_download() as saved:
        page.get_by_role("link", name="Download").click()
    assert saved.value.path().read_bytes() == payload
