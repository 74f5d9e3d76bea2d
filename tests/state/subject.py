"""What the conformance suite works on: a store, its inspector, and ways to disturb them."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from build import at, names, settled, tick

from state.figures import Figures
from state.inspect import Filter, Inspector, Stats
from state.row import Kind, Status
from state.store import Store


class Subject:
    """One state under test; every answer is asked for again after a reopening and after a fold."""

    def __init__(
        self,
        open_store: Callable[[], Store],
        inspector: Callable[[Store], Inspector],
        fold: Callable[[Store, int], None] = lambda store, now: None,
        durable: bool = True,
    ) -> None:
        self._open = open_store
        self._inspector = inspector
        self._fold = fold
        self._durable = durable
        self.store = open_store()

    def commit(self, batch: int, now: float = 0, **said: Any) -> list[tuple[bytes, int]]:
        claims = names(self.store.commit(tick(batch, now, **said)))
        assert self.stats().ledger.difference == 0
        return claims

    def settle(self, *outcomes: dict[str, Any], now: float = 0) -> None:
        self.store.settle(settled(*outcomes), at(now))
        assert self.stats().ledger.difference == 0

    def stats(self, now: float = 0) -> Stats:
        return self.inspector.stats(at(now))

    def figures(self, now: float = 0) -> Figures:
        return self.store.figures(at(now))

    def ends(self) -> dict[str, int]:
        return {s.value: n for s, n in self.stats().ledger.ends.items() if n}

    def statuses(self, kind: Kind | None = Kind.MESSAGE) -> dict[tuple[bytes, int], str]:
        rows = self.rows(kind=kind)
        return dict(zip(names(rows), rows.column("status").to_pylist(), strict=True))

    def rows(self, **where: Any) -> pa.Table:
        return self.inspector.rows(Filter(**where))

    def row(self, key: bytes, offset: int) -> dict[str, Any]:
        [found] = [
            row
            for row in self.inspector.versions(key).to_pylist()
            if row["source_offset"] == offset
        ]
        return found

    def pending(self) -> list[tuple[bytes, int]]:
        return names(self.rows(statuses=[Status.PENDING]))

    @property
    def inspector(self) -> Inspector:
        return self._inspector(self.store)

    def reopen(self) -> None:
        if self._durable:
            self.store.close()
            self.store = self._open()

    def fold(self, now: float = 0) -> None:
        self._fold(self.store, at(now))

    def close(self) -> None:
        self.store.close()
