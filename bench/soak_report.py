"""Says in Markdown what a soak has found."""

import argparse
import os
import platform
from collections.abc import Mapping

from bench.soak_audit import Account
from bench.soak_verdict import JUDGED, NOISE, SHARE, Trend
from tests.kills import Kills

_WORDS = {
    "asked": "messages asked for",
    "published": "published",
    "withdrawn": "withdrawn a minute or more before their instant",
    "lost": "lost",
    "twice": "twice",
    "early": "early",
    "unwanted": "out, though withdrawn a minute before",
    "unknown": "out, and never asked for",
    "difference": "missing in the ledger",
    "miscounted": "miscounted between ledger and topics",
    "dead": "dead letters too many or too few",
}


def markdown(
    given: argparse.Namespace, kills: Kills, found: Account, trends: Mapping[str, Trend]
) -> str:
    """Return the account and the verdict as two tables."""
    killed = ", ".join(f"{who} {count}" for who, count in kills.kills.items())
    lines = [
        f"{given.hours * 60:g} minutes, {given.rate:g} events a second besides bursts and bulks, "
        f"state in {given.store}, seed {given.seed}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}. Killed: {killed}; ended by itself: "
        f"{len(kills.ended)}.",
        "",
        "| every message | |",
        "|---|---:|",
        *(f"| {words} | {getattr(found, name):,} |" for name, words in _WORDS.items()),
        "",
        "| over the last half | samples | middle | rise | noise | verdict |",
        "|---|---:|---:|---:|---:|---|",
        *(_line(JUDGED[name], each) for name, each in trends.items()),
        "",
        f"*Grows*: the line through the samples rises by more than {SHARE:.0%} of their middle and "
        f"more than {NOISE:g} times the noise around it. Slower growth is not found in this time.",
        "",
    ]
    return "\n".join(lines)


def _line(name: str, trend: Trend) -> str:
    numbers = (trend.middle, trend.rise, trend.noise)
    told = " | ".join(f"{n:,.0f}" if abs(n) >= 10 else f"{n:.1f}" for n in numbers)
    return f"| {name} | {trend.samples} | {told} | {trend.said} |"
