"""Which messages get a span: those whose schedule was traced and sampled."""

import pytest

from pipeline.observe.traces import sampled_context

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
GOOD = f"00-{TRACE}-{SPAN}-01"


@pytest.mark.parametrize(
    "value", [GOOD, GOOD.encode(), f"00-{TRACE}-{SPAN}-03", f"cc-{TRACE}-{SPAN}-01-more"]
)
def test_a_sampled_context_is_linked_to(value: str | bytes) -> None:
    context = sampled_context([("other", b"1"), ("traceparent", value)])
    assert context is not None
    assert (f"{context.trace_id:032x}", f"{context.span_id:016x}") == (TRACE, SPAN)
    assert context.is_remote


@pytest.mark.parametrize(
    "value",
    [
        f"00-{TRACE}-{SPAN}-00",
        f"00-{TRACE}-{SPAN}-02",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01-more",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        "00-a-b-01",
        "",
        b"\xff\xfe",
        None,
    ],
)
def test_what_is_not_sampled_or_no_context_is_left_alone(value: str | bytes | None) -> None:
    assert sampled_context([("traceparent", value)]) is None


def test_a_message_without_headers_is_left_alone() -> None:
    assert sampled_context([]) is None
