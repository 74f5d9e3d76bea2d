"""Decides about the messages of a flush that are not to go out: too late, or refused by Kafka."""

from collections.abc import Mapping

from pipeline.clock import instant_text
from pipeline.outbox.decision import Decision
from pipeline.outbox.item import Item, late_ms
from pipeline.outbox.lane import Flush
from pipeline.outbox.refusal import Refusal
from pipeline.outbox.retry import RetryRules
from pipeline.reasons import Reason
from state.row import Status


def decided(
    flush: Flush, refused: Mapping[int, Refusal], rules: RetryRules, now: int
) -> dict[int, Decision]:
    """Return the decisions by the place of their messages.

    What has expired is not tried, so whether Kafka would take it does not matter any more.
    """
    decisions = expired(flush, now)
    for number, refusal in refused.items():
        if number not in decisions:
            decisions[number] = rules.decide(flush.items[number], refusal, now)
    return decisions


def expired(flush: Flush, now: int) -> dict[int, Decision]:
    """Return the decisions about messages that must not be sent any more at ``now``."""
    if not any(chunk.traits.may_expire for chunk in flush.chunks):
        return {}
    dated = ((number, item, item.expires) for number, item in enumerate(flush.items))
    return {
        number: _too_late(item, expires, now)
        for number, item, expires in dated
        if expires is not None and expires <= now and item.is_message
    }


def _too_late(item: Item, expires: int, now: int) -> Decision:
    detail = (
        f"scheduled for {instant_text(item.scheduled)}, to be sent before "
        f"{instant_text(expires)}; its turn came {late_ms(item.scheduled, now)} ms late"
    )
    return Decision(Status.EXPIRED, Reason.EXPIRED, detail, now)
