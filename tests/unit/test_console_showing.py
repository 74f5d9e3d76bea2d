"""How the console shows bytes, texts, times and counts."""

import pytest

from pipeline.admin.console import formats
from pipeline.admin.console.asking import Asking
from pipeline.admin.console.chart import bars
from pipeline.admin.console.job import source_lag
from pipeline.admin.console.payload import MOST_TEXT, hex_dump, indented, shown
from pipeline.admin.console.texts import t, tn
from pipeline.admin.console.visible import visible
from pipeline.admin.console.wish import Wish
from state.cursor import Order
from state.errors import ConfigError
from state.row import PARKED, Status

MINUTE = 60_000_000


def test_html_is_escaped_and_what_cannot_be_seen_is_marked() -> None:
    assert visible("<b>&\"'") == "&lt;b&gt;&amp;&#34;&#39;"
    assert "U+202E" in visible("a\u202eb")
    assert "\u202e" not in visible("a\u202eb")
    assert "\u2400" in visible("\x00")
    assert visible("tab\tand\nline") == "tab\tand\nline"


@pytest.mark.parametrize("sign", ["\ud800", "\ufeff", "\u200b", "\x9b", "\u2066", "\r", "\x7f"])
def test_every_sign_that_hides_is_marked(sign: str) -> None:
    assert 'class="sign"' in visible(f"a{sign}b")
    assert sign not in visible(f"a{sign}b")


def test_json_is_shown_with_a_line_for_each_member_and_every_digit() -> None:
    text = '{"a":1e30,"b":[12345678901234567890123.50,"x,{}\\"y"],"c":{}}'
    assert shown(text.encode()).view == "json"
    assert "1e30" in shown(text.encode()).text
    assert "12345678901234567890123.50" in shown(text.encode()).text
    assert '"x,{}\\"y"' in shown(text.encode()).text
    assert shown(text.encode()).text.count("\n") > 5


@pytest.mark.parametrize("text", ["1", '"a"', "[1,", "{", "[" * 5_000 + "]" * 5_000, ""])
def test_what_is_no_json_object_or_array_is_not_shown_as_one(text: str) -> None:
    assert indented(text) is None


def test_bytes_that_are_no_text_are_shown_in_hex_and_can_be_seen_as_text() -> None:
    assert shown(b"\x00\xff").view == "hex"
    assert shown(b"\x00\xff", "text").text == "\x00\ufffd"
    assert shown(b"\x00\xff", "no such view").view == "hex"
    assert hex_dump(b"A" * 17).splitlines()[1].startswith("00000010  41 ")


def test_a_large_payload_is_cut() -> None:
    large = shown(b"x" * 1_000_000)
    assert large.cut and len(large.text) == MOST_TEXT and large.size == 1_000_000
    assert shown(b"\xff" * 10_000).cut
    assert not shown(b"short").cut


def test_an_instant_is_written_in_utc_and_what_is_parked_has_none() -> None:
    assert "2030-01-31 09:00:00" in formats.when(1_896_080_400_000_000)
    assert 'datetime="2030-01-31T09:00:00.000Z"' in formats.when(1_896_080_400_000_000)
    assert formats.when(PARKED) == formats.when(None) == "\u2013"
    assert "in 1h" in formats.ago(3_600 * 10**6, 0)


def test_sizes_and_counts_are_written_for_people() -> None:
    assert formats.size(12) == "12 bytes"
    assert formats.size(1_000_000) == "1.0 MB"
    assert formats.count(1_234_567) == "1,234,567"
    assert formats.millis(3.25) == "3.2ms"
    assert formats.millis(1_500.0) == "1s 500ms"


def test_texts_take_their_values() -> None:
    assert t("%(n)s bytes", n=3) == "3 bytes"
    assert tn("one", "%(num)s of %(what)s", 1_000, what="them") == "1,000 of them"


def test_bars_are_as_high_as_their_counts_and_what_is_overdue_counts_first() -> None:
    chart = bars({-MINUTE: (1, 0), 0: (2, 0), MINUTE: (0, 6), 99 * MINUTE: (9, 9)}, 0, 3, MINUTE)
    assert [bar.total for bar in chart.bars] == [3, 6, 0]
    assert chart.bars[1].repeats_height == pytest.approx(2 * chart.bars[0].waiting_height)
    assert chart.most is chart.bars[1]
    assert chart.total == 9


def test_a_chart_of_nothing_has_lines_and_no_bars() -> None:
    chart = bars({}, 0, 60, MINUTE)
    assert chart.most is None
    assert [line.label for line in chart.lines] == ["0", "1", "2"]


def test_labels_stand_at_round_times() -> None:
    chart = bars({}, 7 * MINUTE, 180, MINUTE)
    assert [mark.label for mark in chart.marks] == [
        "00:30",
        "01:00",
        "01:30",
        "02:00",
        "02:30",
        "03:00",
    ]


def test_the_address_of_a_list_says_what_is_asked_for() -> None:
    asking = Asking(status="done", topic="out", key="a", due_from="-1h", cursor="x")
    assert asking.asked().statuses == {Status.DONE}
    assert asking.asked().order is Order.LAST_CHANGED
    assert asking.asked().key_prefix == b"a"
    assert "cursor" not in asking.query()
    assert "status" not in Asking().query(topic="x")
    assert Asking(status="nonsense", order="nonsense").ordered is Order.NEXT_DUE


def test_what_cannot_be_read_in_an_address_is_told() -> None:
    with pytest.raises(ConfigError, match="due_from"):
        Asking(due_from="yesterday").asked()


def test_a_form_makes_an_event_with_what_was_filled_in() -> None:
    wish = Wish(outputtopic="out", when="+15m", payload="a\r\nb")
    assert wish.event() == b'{"outputtopic": "out", "delayby": "15m", "data": "a\\nb"}'
    assert b"deliverat" in Wish(when="2030-01-01T00:00:00Z").event()
    assert b"data_base64" in Wish(when="+1s", base64=True).event()
    assert b"delayby" not in Wish(repeatevery="1h").event()
    with pytest.raises(ConfigError, match="when"):
        Wish().event()


def test_the_lag_of_all_input_topics_is_added_up() -> None:
    figures = 'duestream_source_lag{topic="a"} 3.0\nduestream_source_lag{topic="b"} 4\nother 1\n'
    assert source_lag(figures) == 7
    assert source_lag("other 1\n") is None
