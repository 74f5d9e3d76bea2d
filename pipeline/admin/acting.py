"""Writes what somebody wants done, as records on the input topics."""

from collections.abc import Callable
from dataclasses import dataclass

from pipeline.admin.conditions import ANYHOW, Condition, Standing
from pipeline.admin.desk import Desk
from pipeline.admin.namespaces import namespace_of
from pipeline.admin.offered import Offered, acted
from pipeline.admin.problems import Problem
from pipeline.admin.sent import Sent
from pipeline.admin.single import message_of
from pipeline.admin.waiting import outcome_in
from pipeline.admin.who import Principal
from pipeline.clock import now_micros
from pipeline.commands import Command
from pipeline.event import Record
from pipeline.orders import Remarks, order_record, scope_record
from pipeline.planning.plan import NotTaken, Planned, plan
from pipeline.reasons import Reason

SCHEDULE = "schedule"
_MOVES = frozenset({SCHEDULE, Command.RESCHEDULE, Command.SEND_NOW, Command.CANCEL})


@dataclass(frozen=True, slots=True)
class Acting:
    """Acts on somebody's behalf; each call returns once Kafka has the record.

    What the job would refuse is refused here, by a Problem with the reason of its dead letter.
    ``source`` is an input topic, None the default; a ``condition`` that does not hold is a Problem.
    """

    desk: Desk
    who: Principal

    def schedule(
        self,
        key: bytes,
        event: Offered,
        *,
        source: str | None = None,
        condition: Condition = ANYHOW,
    ) -> Sent:
        """Schedule a message, or replace the one that is pending under its key."""
        event = acted(event, self.who.name)
        self._require_message(event, key)
        record = Record("", key, event.value, event.headers)
        return self._write(SCHEDULE, source, condition, key, lambda _: record)

    def cancel(
        self,
        key: bytes,
        *,
        source: str | None = None,
        reason: str | None = None,
        condition: Condition = ANYHOW,
    ) -> Sent:
        """Withdraw what is pending."""
        return self._order(Command.CANCEL, key, source, reason, condition)

    def reschedule(
        self,
        key: bytes,
        *,
        at: str | None = None,
        delay: str | None = None,
        source: str | None = None,
        reason: str | None = None,
        condition: Condition = ANYHOW,
    ) -> Sent:
        """Give what is pending another instant: RFC 3339, or a delay from now such as ``15m``."""
        said = {"deliverat": at, "delayby": delay}
        when = {name: text for name, text in said.items() if text is not None}
        return self._order(Command.RESCHEDULE, key, source, reason, condition, when)

    def send_now(
        self,
        key: bytes,
        *,
        source: str | None = None,
        reason: str | None = None,
        condition: Condition = ANYHOW,
    ) -> Sent:
        """Have what is pending published at once."""
        return self._order(Command.SEND_NOW, key, source, reason, condition)

    def pause(
        self,
        key: bytes | None = None,
        *,
        topic: str | None = None,
        everything: bool = False,
        source: str | None = None,
        reason: str | None = None,
        condition: Condition = ANYHOW,
    ) -> Sent:
        """Hold back what is pending under a key, all for an output topic, or everything."""
        return self._hold(Command.PAUSE, key, topic, everything, source, reason, condition)

    def resume(
        self,
        key: bytes | None = None,
        *,
        topic: str | None = None,
        everything: bool = False,
        source: str | None = None,
        reason: str | None = None,
        condition: Condition = ANYHOW,
    ) -> Sent:
        """Let go what was paused."""
        return self._hold(Command.RESUME, key, topic, everything, source, reason, condition)

    def _hold(
        self,
        command: Command,
        key: bytes | None,
        topic: str | None,
        everything: bool,
        source: str | None,
        reason: str | None,
        condition: Condition,
    ) -> Sent:
        if key is not None and topic is None and not everything:
            return self._order(command, key, source, reason, condition)
        record = scope_record(command, key, topic, everything, self._remarks(reason, None))
        return self._write(command, source, condition, record.key or b"", lambda _: record)

    def _order(
        self,
        command: Command,
        key: bytes,
        source: str | None,
        reason: str | None,
        condition: Condition,
        more: dict[str, str] | None = None,
    ) -> Sent:
        def record(version: str | None) -> Record:
            return order_record(command, key, self._remarks(reason, version), more)

        self._require_key(key)
        self._judge(record(None).value or b"", key)
        return self._write(command, source, condition, key, record)

    def _write(
        self,
        what: str,
        source: str | None,
        condition: Condition,
        key: bytes,
        record: Callable[[str | None], Record],
    ) -> Sent:
        topic = self.desk.sending.source(source)
        name = (namespace_of(self.desk.settings, topic), key)
        with self.desk.writes.turn(name):
            version = self._checked(name, topic, condition) if condition.asks else None
            made = record(version)
            client = self.desk.sending.client(topic)
            sent = Sent.of(what, client.forward(made.key, made.value, made.headers))
            if what in _MOVES:
                self.desk.writes.note(name, sent)
        return sent

    def _checked(self, name: tuple[str, bytes], source: str, condition: Condition) -> str | None:
        """Return the version that the condition was held against; a Problem if it fails."""
        standing = self._standing(name, source)
        condition.check(standing)
        return standing.version if condition.versions is not None else None

    def _standing(self, name: tuple[str, bytes], source: str) -> Standing:
        """Return what is pending by the state, or by what was written here since."""
        state = self.desk.looking.inspector()
        known = message_of(state, self.desk.settings, name[1], source, None)
        last = self.desk.writes.last(name)
        if last is not None and outcome_in(known.rows, last) is None:
            return Standing(None if last.what == Command.CANCEL else last.version, sure=False)
        return Standing(known.version if known.is_pending else None)

    def _remarks(self, reason: str | None, version: str | None) -> Remarks:
        return Remarks(reason=reason, actor=self.who.name, if_version=version)

    def _require_message(self, event: Offered, key: bytes) -> None:
        self._require_key(key)
        if not isinstance(self._judge(event.judged, key), Planned):
            raise Problem(
                422,
                Reason.INVALID_COMMAND,
                "type: is that of a command, and a message is scheduled here; use DELETE, "
                "dispatch, reschedule, pause or resume",
            )

    def _judge(self, value: bytes, key: bytes) -> object:
        judged = plan(value, self.desk.settings, now_micros(), key, limit=1)
        if isinstance(judged, NotTaken):
            raise Problem(422, judged.reason, judged.sentence)
        return judged

    def _require_key(self, key: bytes) -> None:
        if not key:
            raise Problem(422, Reason.MISSING_KEY, "key: is empty; the key names the schedule")
