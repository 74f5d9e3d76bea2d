"""The events of the benchmark: binary CloudEvents with the due instant in the payload."""

import json
from datetime import UTC, datetime

PAYLOAD_BYTES = 200


Record = tuple[bytes, bytes, list[tuple[str, bytes]]]


def record(number: int, due_ms: int, topic: str, key: int | None = None) -> Record:
    """Return key, value and headers of the event with this number; ``key``: of another one."""
    body = json.dumps({"n": number, "due": due_ms}).encode()
    due = datetime.fromtimestamp(due_ms / 1000, UTC).isoformat(timespec="milliseconds")
    return (
        f"key-{number if key is None else key}".encode(),
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


def keeping(event: Record) -> Record:
    """Return the event with a policy: it is ignored while another one of its key is pending."""
    key, value, headers = event
    return key, value, [*headers, ("ce_onsameid", b"keep")]


def read(value: bytes) -> tuple[int, int]:
    """Return number and due instant (milliseconds) of a published payload."""
    body = json.loads(value)
    return body["n"], body["due"]
