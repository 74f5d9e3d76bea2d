"""Says in words how a message repeats."""

from pipeline.admin.console.texts import t
from pipeline.clock import instant_text
from pipeline.config.spans import write_duration
from state.rules.policy import Policy
from state.rules.repeat import Repeat


def rule_text(policy: str | None) -> str:
    """Return how a message repeats; nothing if it does not."""
    repeat = Policy.from_json(policy).repeat
    if repeat is None:
        return ""
    if repeat.every is not None:
        return t("every %(span)s", span=write_duration(repeat.every))
    return t("cron %(cron)s in %(tz)s", cron=repeat.cron, tz=repeat.tz)


def end_text(policy: str | None) -> str:
    """Return when the series is over."""
    repeat = Policy.from_json(policy).repeat
    if repeat is None:
        return ""
    parts = list(filter(None, (_count(repeat), _until(repeat))))
    return t(" or ").join(parts) or t("never")


def miss_text(policy: str | None) -> str:
    """Return what becomes of occurrences that are missed."""
    repeat = Policy.from_json(policy).repeat
    words = {"all": t("all are sent"), "last": t("the last is sent"), "skip": t("none is sent")}
    return "" if repeat is None else words[repeat.on_miss.value]


def _count(repeat: Repeat) -> str:
    return "" if repeat.count is None else t("after %(n)s", n=f"{repeat.count:,}")


def _until(repeat: Repeat) -> str:
    return "" if repeat.until is None else t("on %(at)s", at=instant_text(repeat.until)[:19])
