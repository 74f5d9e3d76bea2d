"""Says in words what a message asks for."""

from collections.abc import Iterator

from pipeline.config.spans import write_duration
from state.rules.policy import Policy
from state.rules.repeat import OnMiss, Repeat
from state.rules.same_policy import SameKey, SamePolicy
from state.rules.wishes import as_text

_MISSED = {
    OnMiss.ALL: "of occurrences that were missed, all are sent",
    OnMiss.LAST: "of occurrences that were missed, the newest is sent",
    OnMiss.SKIP: "occurrences that were missed are not sent",
}


def policy_in_words(policy: Policy) -> list[str]:
    """Return one sentence for each thing that is asked for."""
    return list(_sentences(policy))


def _sentences(policy: Policy) -> Iterator[str]:
    if policy.repeat is not None:
        yield _repeat(policy.repeat)
        yield _MISSED[policy.repeat.on_miss]
    yield _same_key(policy.same)
    if policy.expireafter is not None:
        late = write_duration(policy.expireafter)
        yield f"each occurrence expires when it is {late} late"
    elif policy.expires is not None:
        yield f"expires at {as_text(policy.expires)}"
    if policy.retrymax is not None:
        yield f"is tried again at most {policy.retrymax} times when Kafka refuses it"
    if policy.retryfor is not None:
        yield f"is tried again for at most {write_duration(policy.retryfor)} when Kafka refuses it"


def _repeat(repeat: Repeat) -> str:
    how = (
        f"by the cron expression '{repeat.cron}' in {repeat.tz}"
        if repeat.every is None
        else f"every {write_duration(repeat.every)}"
    )
    ends = []
    if repeat.count is not None:
        ends.append(f"{repeat.count} times in all")
    if repeat.until is not None:
        ends.append(f"until {as_text(repeat.until)}")
    return f"repeats {how}, {' and '.join(ends) or 'without an end'}"


def _same_key(same: SameKey) -> str:
    wait = write_duration(same.settle_for or 0)
    most = "" if same.settle_max is None else f", at most {write_duration(same.settle_max)}"
    what = same.compare_field or "the payload"
    return {
        SamePolicy.REPLACE: "replaces what is pending under its key",
        SamePolicy.KEEP: "is ignored while another is pending under its key",
        SamePolicy.IGNORE_DUPLICATE: f"is ignored if {what} equals that of the one pending",
        SamePolicy.IGNORE_SMALL_CHANGE: (
            f"is ignored if {what} differs by less than {same.min_deviation} from the one pending"
        ),
        SamePolicy.SETTLE: f"waits until none of its key has come for {wait}{most}",
        SamePolicy.DEBOUNCE: f"waits until none of its key has come for {wait}",
        SamePolicy.THROTTLE: f"goes out with the newest content, once for each {wait} of its key",
    }[same.policy]
