"""What was found on the topic of another scheduler, and what is to be mended before it is taken."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pipeline.migrate.fates import Fate


class Output(NamedTuple):
    """An output topic, and how many schedules are to be published to it."""

    topic: str
    schedules: int
    allowed: bool
    exists: bool


class Unread(NamedTuple):
    """A record that the job would refuse, and why."""

    partition: int
    offset: int
    reason: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Report:
    """All that ``migrate check`` finds."""

    topic: str
    dialect: str
    offsets: int
    fates: Counter[Fate]
    replaced: int
    outputs: tuple[Output, ...]
    unread: tuple[Unread, ...]  # the first of them

    @property
    def waiting(self) -> int:
        """How many schedules are still to be published."""
        return self.fates[Fate.PENDING] + self.fates[Fate.OVERDUE]

    @property
    def not_allowed(self) -> tuple[Output, ...]:
        """The output topics that outputs.allow does not name."""
        return tuple(output for output in self.outputs if not output.allowed)

    @property
    def left_out(self) -> int:
        """How many records and schedules cannot be taken as the settings are."""
        return self.fates[Fate.UNREADABLE] + sum(output.schedules for output in self.not_allowed)

    def figures(self) -> Mapping[str, int]:
        """Return the counts by name, in the order in which they are told."""
        told = (Fate.PENDING, Fate.OVERDUE, Fate.SENT, Fate.CANCELLED)
        figures = {fate.value: self.fates[fate] for fate in told}
        figures |= {"replaced": self.replaced, Fate.UNREADABLE.value: self.fates[Fate.UNREADABLE]}
        asking = self.fates[Fate.ASKING]
        return figures | ({Fate.ASKING.value: asking} if asking else {})

    def problems(self) -> Iterator[str]:
        """Say what is to be mended first, a sentence each."""
        if self.fates[Fate.UNREADABLE]:
            yield (
                f"{self.fates[Fate.UNREADABLE]:,} records cannot be taken, for the reasons above; "
                "have them sent again, or leave them out with --skip-unreadable"
            )
        if self.not_allowed:
            yield f"outputs.allow: add {_names(self.not_allowed)}"
        missing = [output for output in self.outputs if not output.exists]
        if missing:
            yield f"these output topics do not exist, create them: {_names(missing)}"
        if self.fates[Fate.ASKING]:
            yield ASKING_SENTENCE.format(count=self.fates[Fate.ASKING])


ASKING_SENTENCE = (
    "{count:,} schedules have commands or policies for the same key, which only a running job can "
    "follow; let the job read the topic itself, with pipeline.starting_offsets: earliest"
)


def _names(outputs: "list[Output] | tuple[Output, ...]") -> str:
    return ", ".join(f"{output.topic} ({output.schedules:,})" for output in outputs)
