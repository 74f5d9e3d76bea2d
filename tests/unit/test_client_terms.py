"""What the client writes for repeats, policies and expiry, read as the job reads it."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from cloudevents.core.bindings.kafka import KafkaMessage, from_binary_event, from_structured_event

from pipeline.clock import now_micros
from pipeline.event import Mode, ScheduleError, Wish, schedule_record
from pipeline.terms import ARGUMENTS, Repeat, SameKey, Terms
from state.rules.asked import ATTRIBUTES, Asked, read_asked
from state.rules.instant import parse_instant
from state.rules.policy import Policy
from state.rules.repeat import OnMiss
from state.rules.same_policy import SamePolicy

HOUR = timedelta(hours=1)
NOON = datetime(2030, 1, 31, 12, tzinfo=UTC)
NOON_MICROS = parse_instant("2030-01-31T12:00:00Z")
HOUR_MICROS = 3_600_000_000


def sent(wish: Wish, mode: Mode = "binary") -> Mapping[str, object]:
    """Return the extensions of the event, as the SDK reads them."""
    record = schedule_record(b"k", wish, mode)
    assert record.value is not None
    message = KafkaMessage(dict(record.headers), record.key, record.value)
    read = from_binary_event if mode == "binary" else from_structured_event
    return read(message).get_attributes()


def asked(wish: Wish, mode: Mode = "binary") -> Asked:
    """Return what the job makes of it."""
    attributes = {name: str(value) for name, value in sent(wish, mode).items()}
    assert isinstance(wish.payload, bytes)
    at = attributes.get("deliverat")
    read = read_asked(
        attributes,
        names=None,
        due=None if at is None else parse_instant(at),
        timestamp=now_micros(),
        payload=wish.payload,
        allow_forever=False,
    )
    assert isinstance(read, Asked), read
    return read


def wish(payload: bytes = b"{}", at: datetime | None = NOON, **terms: object) -> Wish:
    return Wish(payload, "orders", at=at, terms=Terms(**terms))  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", ["binary", "structured"])
def test_a_repeat_arrives_as_it_was_meant(mode: Mode) -> None:
    repeat = Repeat(every=HOUR, until=NOON + 5 * HOUR, count=4, on_miss="all")
    found = asked(wish(repeat=repeat), mode).policy.repeat
    assert found is not None
    assert (found.every, found.count, found.on_miss) == (HOUR_MICROS, 4, OnMiss.ALL)
    assert (found.anchor, found.until) == (NOON_MICROS, NOON_MICROS + 5 * HOUR_MICROS)


def test_a_cron_repeat_needs_no_instant_and_takes_a_zone_as_text_or_object() -> None:
    for tz in ("Europe/Berlin", ZoneInfo("Europe/Berlin")):
        repeat = Repeat(cron="30 9 * * MON-FRI", tz=tz, lasting=timedelta(days=30))
        found = asked(wish(at=None, repeat=repeat)).policy.repeat
        assert found is not None
        assert (found.cron, found.tz) == ("30 9 * * MON-FRI", "Europe/Berlin")


def test_a_repeat_by_interval_without_an_instant_begins_at_once() -> None:
    before = now_micros()
    found = asked(wish(at=None, repeat=Repeat(every="90s", count=2)))
    assert before <= found.due <= now_micros()


def test_expiry_and_retries_arrive_as_they_were_meant() -> None:
    assert asked(wish(expires_at=NOON + HOUR)).policy.expires == NOON_MICROS + HOUR_MICROS
    policy = asked(wish(expire_after=HOUR, retry_max=3, retry_for="2h")).policy
    assert policy == Policy(retrymax=3, retryfor=2 * HOUR_MICROS, expires=NOON_MICROS + HOUR_MICROS)


@pytest.mark.parametrize(
    ("least", "kept"), [(0.5, "0.5"), (1e-7, "0.0000001"), (Decimal("2"), "2"), ("5%", "5%")]
)
def test_a_deviation_may_be_any_number_or_a_part(least: object, kept: str) -> None:
    same = SameKey(policy="ignoresmallchange", compare="$.n", min_deviation=least)  # type: ignore[arg-type]
    found = asked(wish(b'{"n": 7}', same_key=same)).policy
    assert (found.same.min_deviation, found.compare) == (kept, "7")


@pytest.mark.parametrize("policy", ["settle", "debounce", "throttle"])
def test_a_settling_message_needs_no_instant(policy: str) -> None:
    same = SameKey(policy=policy, settle_for=HOUR)  # type: ignore[arg-type]
    found = asked(wish(at=None, same_key=same))
    assert (found.policy.same.policy, found.policy.same.settle_for) == (policy, HOUR_MICROS)


@pytest.mark.parametrize("policy", ["replace", "keep", "ignoreduplicate"])
def test_the_other_policies_arrive_too(policy: str) -> None:
    assert asked(wish(same_key=SameKey(policy=policy))).policy.same.policy == SamePolicy(policy)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("terms", "sentence"),
    [
        ({"repeat": Repeat(count=3)}, "repeat: give every or cron"),
        ({"repeat": Repeat(every=timedelta(milliseconds=5), count=3)}, r"every .PT0\.005S"),
        ({"repeat": Repeat(every=5, count=3)}, r"repeat\.every: 5 has no unit"),
        ({"repeat": Repeat(every="1h", cron="@daily")}, r"repeat\.every '1h' and repeat\.cron"),
        ({"repeat": Repeat(cron="61 * * * *")}, r"repeat\.cron '61 .*' is not a cron expression"),
        ({"repeat": Repeat(cron="@daily", tz="Mars/Olympus")}, r"repeat\.tz 'Mars/Olympus'"),
        ({"repeat": Repeat(every=-HOUR)}, r"repeat\.every: is below zero"),
        ({"repeat": Repeat(every=HOUR, until=NOON.replace(tzinfo=None))}, r"until: .* zone"),
        ({"repeat": Repeat(every=HOUR, until=NOON - HOUR)}, r"repeat\.until .* before the first"),
        ({"repeat": Repeat(every=HOUR, count=0)}, r"repeat\.count '0'"),
        ({"repeat": Repeat(every=HOUR, count=2, on_miss="some")}, r"repeat\.on_miss 'some'"),
        ({"expires_at": NOON}, "expires_at .* is not after the time of delivery"),
        ({"expires_at": NOON.replace(tzinfo=None)}, "expires_at: .* has no time zone"),
        ({"expires_at": "2030-01-31"}, "expires_at: '2030-01-31' is no datetime"),
        ({"expire_after": "soon"}, "expire_after: 'soon' is not a duration"),
        ({"retry_max": -1}, "retry_max '-1'"),
        ({"same_key": SameKey(policy="first")}, r"same_key\.policy 'first' is not known"),
        ({"same_key": SameKey(policy="settle", settle_for="1m")}, "policy .settle. decides"),
        ({"same_key": SameKey(policy="keep", compare="$.a")}, r"compare .* is of use"),
        ({"same_key": SameKey(policy="ignoreduplicate", compare="$.a")}, "is not in the payload"),
    ],
)  # fmt: skip
def test_terms_that_cannot_be_are_refused_by_the_name_of_the_argument(
    terms: dict[str, object], sentence: str
) -> None:
    with pytest.raises(ScheduleError, match=sentence):
        schedule_record(b"k", wish(**terms))


def test_attributes_may_be_given_as_such_but_not_twice() -> None:
    plain = Wish(b"", "orders", attributes={"repeatevery": "1h", "repeatcount": 2})
    assert sent(plain)["repeatcount"] == "2"
    twice = Wish(b"", "orders", attributes={"retrymax": 2}, terms=Terms(retry_max=2), delay="1s")
    with pytest.raises(ScheduleError, match="retrymax is given by retry_max too"):
        schedule_record(b"k", twice)
    bad = Wish(b"", "orders", delay="1s", attributes={"repeatcount": 2})
    with pytest.raises(ScheduleError, match="repeatcount '2' is of use only with"):
        schedule_record(b"k", bad)


def test_every_attribute_has_its_argument() -> None:
    assert set(ARGUMENTS) == {"deliverat", "delayby", *ATTRIBUTES}
