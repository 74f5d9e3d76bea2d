"""Writes commands to the job as the events on Kafka that it reads.

They are always sent in structured mode: a binary event has its payload as the record's value, a
command has none, and a record without a value is a plain cancel.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from pipeline.commands import ACTOR, IF_VERSION, REASON, REPLY_TO, SCOPE, Command, Scope
from pipeline.event import Record, checked_name, event_of, structured_record, when
from pipeline.written import ScheduleError

_VERSION = re.compile(r"[0-9]{1,10}-[0-9]{1,19}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Remarks:
    """What may be said with any command: why, by whom, on which condition, and who is told."""

    reason: str | None = None
    actor: str | None = None
    if_version: str | None = None
    reply_to: str | None = None

    def attributes(self) -> dict[str, str]:
        """Return the attributes that say so."""
        if self.if_version is not None and not _VERSION.fullmatch(self.if_version):
            raise ScheduleError(
                f"if_version: {self.if_version!r} is no version; give partition and offset of the "
                "record that made the message, such as 0-17, or the receipt of its schedule"
            )
        if self.reply_to is not None:
            checked_name(self.reply_to, "reply_to")
        said = {
            REASON: self.reason,
            ACTOR: self.actor,
            IF_VERSION: self.if_version,
            REPLY_TO: self.reply_to,
        }
        return {name: value for name, value in said.items() if value is not None}


def order_record(
    command: Command, key: bytes, remarks: Remarks, more: dict[str, str] | None = None
) -> Record:
    """Return the record that gives a command about the schedule of ``key``."""
    if not key:
        raise ScheduleError("key: is empty; the key names the schedule, give one")
    return structured_record(key, event_of(command.type, {**remarks.attributes(), **(more or {})}))


def reschedule_record(
    key: bytes, at: datetime | None, delay: timedelta | str | None, remarks: Remarks
) -> Record:
    """Return the record that gives the pending message of ``key`` another instant."""
    return order_record(Command.RESCHEDULE, key, remarks, when(at, delay))


def scope_record(
    command: Command,
    key: bytes | None,
    topic: str | None,
    everything: bool,
    remarks: Remarks,
) -> Record:
    """Return the record that pauses or resumes one key, one output topic, or everything."""
    if [key is not None, topic is not None, everything].count(True) != 1:
        raise ScheduleError("key, topic, everything: give one of the three, and not more")
    if key is not None:
        return order_record(command, key, remarks)
    if remarks.if_version is not None:
        raise ScheduleError("if_version: names the message of one key; leave it out here")
    scope = Scope.ALL if topic is None else Scope.TOPIC
    where = {} if topic is None else {"outputtopic": checked_name(topic, "topic")}
    return order_record(command, scope.value.encode(), remarks, {SCOPE: scope.value, **where})
