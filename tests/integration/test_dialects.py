"""The formats of other schedulers on a real broker: one job reads a topic of each."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import pytest
from confluent_kafka import Message
from pyspark.sql import SparkSession

from pipeline.local_kafka import LocalKafka
from state import row
from state.inspect import Filter
from state.open import open_inspector
from tests.foreign import (
    DIALECTS,
    FRAME,
    SPEAKERS,
    Headers,
    Out,
    Post,
    Sent,
    Spoken,
    Wanted,
    expected,
    kms_avro,
    kms_json,
    mongo,
    partition_by,
    seen,
)
from tests.integration.running import Place, place, running, wait_for
from tests.reading import read_committed

PARTITIONS = 3
FAR = 600_000  # milliseconds
Y2001 = 978_307_200_000
TEXT = 'text \u00e9 "q" \\ \n {"n": 1.50}'.encode()
BYTES = bytes(range(256))
IN_HEADERS = ("etf1", "karafka")  # they say in headers what others say in the value
USERS: Headers = (("user", BYTES), ("user", b"again"), ("\u00e9", b""), ("none", None))
MAPPED: Headers = (("z", BYTES), ("a", b""), ("\u00e9", b"x"))


class Case(NamedTuple):
    """A message to be asked for, the record that does, and the partition it is sent to."""

    wanted: Wanted
    spoken: Spoken
    partition: int = -1


def cases_of(dialect: str, out: str, due: int) -> dict[str, Case]:
    """Return what must come out, by the key that the record has after that of its dialect."""
    in_headers, said = dialect in IN_HEADERS, SPEAKERS[dialect]
    payload = TEXT if dialect == "cloudevents-mongo" else BYTES
    headers = USERS if in_headers else () if dialect == "cloudevents-mongo" else MAPPED
    no_key = b"" if dialect.startswith("kms") else None
    wanted = {
        "create": Wanted(out, due, b"create", payload),
        "past": Wanted(out, Y2001, b"past", b"past"),
        "null": Wanted(out, due, b"null", b"" if in_headers else None),
        "keyless": Wanted(out, due, no_key, b"keyless"),
        "key": Wanted(out, due, "k \u00e9".encode(), b"key"),
        "headers": Wanted(out, due, b"headers", b"headers", headers),
    }
    cases = {name: Case(each, said(each)) for name, each in wanted.items()}
    return cases | _more_of(dialect, Wanted(out, due))


def _more_of(dialect: str, basis: Wanted) -> dict[str, Case]:
    """Return what only one of them can say."""

    def case(name: str, said: Callable[[Wanted], Spoken], partition: int = -1) -> Case:
        wanted = basis._replace(key=name.encode(), value=name.encode())
        return Case(wanted, said(wanted), partition)

    if dialect == "cloudevents-mongo":
        return {"seconds": case("seconds", lambda w: mongo(w, in_seconds=True))}
    if dialect == "kms-json":
        return {"sparing": case("sparing", lambda w: kms_json(w, in_full=False))}
    if dialect == "kms-avro":
        layouts = {"four": (4, b""), "four framed": (4, FRAME), "five framed": (5, FRAME)}
        return {
            name: case(name, lambda w, layout=layout: kms_avro(w, *layout))
            for name, layout in layouts.items()
        }
    if dialect == "etf1":
        basis = basis._replace(headers=(("Scheduler-Epoch", b"1"),))
        return {"another case": case("another case", SPEAKERS[dialect])}
    said = SPEAKERS[dialect]
    cases = {f"on {n}": case(f"on {n}", said, partition=n) for n in range(2)}
    basis = basis._replace(partition=(partition_by(b"elsewhere", PARTITIONS) + 1) % PARTITIONS)
    return cases | {"elsewhere": case("elsewhere", said)}


@dataclass
class World:
    """The job, what was sent to it, and what must come of that."""

    place: Place
    post: Post
    inputs: dict[str, str]
    outs: dict[str, str]
    sent: dict[tuple[str, str], tuple[Wanted, Sent]] = field(default_factory=dict)

    def ask(self, dialect: str, name: str, case: Case) -> None:
        """Send a record whose message must come out."""
        key = "two partitions" if name.startswith("on ") else name
        sent = self.send(dialect, key, case.spoken, case.partition)
        self.sent[dialect, name] = case.wanted, sent

    def send(self, dialect: str, name: str, spoken: Spoken, partition: int = -1) -> Sent:
        now = time.time_ns() // 1_000_000
        key = f"{dialect}/{name}".encode()
        return self.post.send(self.inputs[dialect], key, spoken, now, partition)

    def expected(self, dialect: str) -> dict[str, Out]:
        ours = {name: told for (of, name), told in self.sent.items() if of == dialect}
        return {name: expected(dialect, *told) for name, told in ours.items()}

    def found(self, dialect: str) -> list[Message]:
        return read_committed(self.post.servers, self.outs[dialect])

    def statuses(self) -> dict[str, set[str]]:
        """The statuses that the messages of each key have, in one look at the state."""
        found: dict[str, set[str]] = {}
        rows = open_inspector(self.place.settings.state).rows(Filter())
        for line in rows.select([row.KEY, row.STATUS]).to_pylist():
            found.setdefault(line[row.KEY].decode(), set()).add(line[row.STATUS])
        return found

    def are(self, name: str, *statuses: str) -> bool:
        """Tell whether the messages of that name have these statuses, in all dialects."""
        found = self.statuses()
        return all(found.get(f"{each}/{name}") == set(statuses) for each in DIALECTS)


@pytest.fixture(scope="module")
def world(
    spark: SparkSession,
    broker: LocalKafka,
    topics: Callable[..., str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[World]:
    """Send everything to one job and wait until it has come to its end."""
    inputs = {dialect: topics(f"in-{dialect}", partitions=2) for dialect in DIALECTS}
    broker_time = {"message_timestamp_type": "LogAppendTime"}
    outs = {name: topics(f"out-{name}", PARTITIONS, **broker_time) for name in DIALECTS}
    sources = [{"topic": inputs[name], "dialect": name} for name in DIALECTS]
    sources[0]["output_topic"] = outs[DIALECTS[0]]
    somewhere = place(
        tmp_path_factory.mktemp("dialects"),
        broker.bootstrap_servers,
        topics,
        **{"sources": sources, "outputs.allow": list(outs.values())},
    )
    made = World(somewhere, Post(broker.bootstrap_servers), inputs, outs)
    with running(spark, somewhere.settings):
        _warm(made)
        _first(made)
        wait_for(lambda: made.are("overwrite", "pending"), "what will be overwritten")
        wait_for(lambda: made.are("cancel", "pending"), "what will be cancelled")
        wait_for(lambda: made.are("kept", "pending"), "what will be left alone")
        _then(made)
        wait_for(lambda: made.are("overwrite", "replaced", "done"), "what was overwritten")
        wait_for(lambda: made.are("cancel", "cancelled"), "what was cancelled")
        wait_for(lambda: _are_out(made), "all other messages")
        yield made
    ledger = somewhere.stats().ledger
    assert ledger.difference == 0, ledger


def _warm(world: World) -> None:
    """Let the job have run once, so that it meets the rest before it is due."""
    for dialect in DIALECTS:
        wanted = Wanted(world.outs[dialect], Y2001, b"warm", b"warm")
        world.ask(dialect, "warm", Case(wanted, SPEAKERS[dialect](wanted)))
    world.post.flush()
    wait_for(lambda: world.are("warm", "done"), "the first messages")


def _first(world: World) -> None:
    soon = (time.time_ns() // 10**9 + 7) * 1000
    for dialect, out in world.outs.items():
        due = soon if dialect in IN_HEADERS else soon + 137
        for name, case in cases_of(dialect, out, due).items():
            world.ask(dialect, name, case)
        for name in ("overwrite", "cancel", "kept"):
            wanted = Wanted(out, soon + FAR, b"first", f"first {name}".encode())
            world.send(dialect, name, SPEAKERS[dialect](wanted))
    world.post.flush()


def _then(world: World) -> None:
    soon = (time.time_ns() // 10**9 + 3) * 1000
    for dialect, out in world.outs.items():
        wanted = Wanted(out, soon, b"second", b"second")
        world.ask(dialect, "overwrite", Case(wanted, SPEAKERS[dialect](wanted)))
        world.send(dialect, "cancel", Spoken(None))
        world.send(dialect, "kept", Spoken(b"\xff garbage"))
        if dialect.startswith("kms"):
            world.send(dialect, "kept", Spoken(None, (("schedule:expired", b"TRUE"),)))
    world.post.flush()


def _are_out(world: World) -> bool:
    found = world.statuses()
    keys = {sent.key.decode() for _, sent in world.sent.values()}
    return all(found.get(key, {"unknown"}) <= {"done", "replaced"} for key in keys)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_message_comes_out_once_byte_for_byte_and_nothing_else_does(
    world: World, dialect: str
) -> None:
    wanted = {out: name for name, out in world.expected(dialect).items()}
    found = Counter(wanted.get(seen(m), seen(m)) for m in world.found(dialect))
    assert found == Counter(wanted.values())


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_message_is_early(world: World, dialect: str) -> None:
    wanted = {out: world.sent[dialect, name][0] for name, out in world.expected(dialect).items()}
    early = [seen(m) for m in world.found(dialect) if m.timestamp()[1] < wanted[seen(m)].due]
    assert early == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_message_goes_to_the_partition_of_its_key_or_to_the_one_it_names(
    world: World, dialect: str
) -> None:
    wanted = {out: world.sent[dialect, name][0] for name, out in world.expected(dialect).items()}
    keyed = [m for m in world.found(dialect) if m.key() is not None]
    where = {wanted[seen(m)]: m.partition() for m in keyed}
    assert where == {w: _partition(w) for w in wanted.values() if w.key is not None}


def _partition(wanted: Wanted) -> int:
    if wanted.partition is not None:
        return wanted.partition
    return partition_by(wanted.key or b"", PARTITIONS)


def test_an_overwritten_or_cancelled_message_never_comes_out(world: World) -> None:
    assert world.are("overwrite", "replaced", "done")
    assert world.are("cancel", "cancelled")
    for dialect in DIALECTS:
        assert [m for m in world.found(dialect) if (m.value() or b"").startswith(b"first")] == []


def test_a_key_on_two_partitions_names_two_schedules_of_karafka(world: World) -> None:
    lines = world.place.rows_of("karafka/two partitions")
    ends = {line[row.SOURCE_PARTITION]: line[row.STATUS] for line in lines}
    assert ends == {0: "done", 1: "done"}


def test_garbage_and_marks_of_what_was_sent_leave_alone_what_is_pending(world: World) -> None:
    servers, dead = world.post.servers, world.place.dead
    wait_for(lambda: len(read_committed(servers, dead)) == len(DIALECTS), "the dead letters")
    letters = {m.key().decode(): m for m in read_committed(servers, dead)}
    reasons = {key: dict(m.headers())["duestream-reason"] for key, m in letters.items()}
    assert {m.value() for m in letters.values()} == {b"\xff garbage"}
    assert reasons == {
        "cloudevents-mongo/kept": b"invalid_json",
        "kms-avro/kept": b"invalid_avro",
        "kms-json/kept": b"invalid_json",
        "etf1/kept": b"missing_field",
        "karafka/kept": b"missing_field",
    }
    for dialect in DIALECTS:
        (line,) = world.place.rows_of(f"{dialect}/kept")
        assert (line[row.STATUS], line[row.PAYLOAD]) == ("pending", b"first kept")
