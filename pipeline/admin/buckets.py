"""Counts what each client does, and tells when it is too much: a token bucket for each."""

import threading
import time
from collections import OrderedDict
from ipaddress import IPv6Address, ip_address

_CLIENTS = 10_000  # that are remembered; whoever was quiet longest is forgotten


class Buckets:
    """Allows ``rate`` things a second to each client, and ``burst`` at once; for many threads."""

    def __init__(self, rate: float, burst: float, clients: int = _CLIENTS) -> None:
        self._rate = rate
        self._burst = max(burst, 1.0)
        self._clients = clients
        self._counting = threading.Lock()
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str) -> float:
        """Count one thing; return 0, or the seconds to wait if it is one too many."""
        with self._counting:
            left, now = self._now(client)
            wait = max(0.0, (1.0 - left) / self._rate)
            self._left[client] = (left if wait else left - 1.0, now)
            self._left.move_to_end(client)
            if len(self._left) > self._clients:
                self._left.popitem(last=False)
            return wait

    def wait(self, client: str) -> float:
        """Return the seconds until one more is allowed, without counting."""
        with self._counting:
            left, _ = self._now(client)
            return max(0.0, (1.0 - left) / self._rate)

    def __len__(self) -> int:
        """Return how many clients are remembered."""
        return len(self._left)

    def _now(self, client: str) -> tuple[float, float]:
        now = time.monotonic()
        left, at = self._left.get(client, (self._burst, now))
        return min(self._burst, left + (now - at) * self._rate), now


def neighbourhood(address: str) -> str:
    """Return what counts as one client: an address, of IPv6 the network that a household has."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return address
    mapped = found.ipv4_mapped
    return str(mapped) if mapped else f"{IPv6Address(int(found) >> 64 << 64)}/64"
