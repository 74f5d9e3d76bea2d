"""The events of the benchmark: binary CloudEvents with the due instant in the payload."""

import json
from datetime import UTC, datetime

PAYLOAD_BYTES = 200


def record(number: int, due_ms: int, topic: str) -> tuple[bytes, bytes, list[tuple[str, bytes]]]:
    """Return key, value and headers of the event with this number."""
    body = json.dumps({"n": number, "due": due_ms}).encode()
    due = datetime.fromtimestamp(due_ms / 1000, UTC).isoformat(timespec="milliseconds")
    return (
        f"key-{number}".encode(),
        body + b" " * (PAYLOAD_BYTES - len(body)),
        [
            ("ce_specversion", b"1.0"),
            ("ce_id", str(number).encode()),
            ("ce_source", b"/bench"),
            ("ce_type", b"bench"),
            ("ce_outputtopic", topic.encode()),
            ("ce_deliverat", due.encode()),
        ],
    )


def read(value: bytes) -> tuple[int, int]:
    """Return number and due instant (milliseconds) of a published payload."""
    body = json.loads(value)
    return body["n"], body["due"]
