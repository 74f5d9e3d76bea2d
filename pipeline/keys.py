"""Writes the bytes of keys and payloads for people, and reads them back."""

import os

from state.errors import ConfigError
from state.key_text import HEX, decoded, key_text

__all__ = ["key_bytes", "key_text", "payload_text"]


def key_bytes(text: str, option: str = "KEY") -> bytes:
    """Return the key that ``key_text`` wrote, or that a person typed."""
    if not text.startswith(HEX):
        return os.fsencode(text)  # bytes typed that are no text come as they were typed
    try:
        return bytes.fromhex(text.removeprefix(HEX))
    except ValueError as error:
        raise ConfigError(
            f"{option}: {text} is not hexadecimal; write two digits per byte, such as 0x6f72"
        ) from error


def payload_text(payload: bytes) -> str | None:
    """Return a payload as text, None when it is none that a terminal can show."""
    text = decoded(payload)
    if text is None or not all(sign.isprintable() or sign in "\n\r\t" for sign in text):
        return None
    return text
