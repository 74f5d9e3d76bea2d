"""Writes the bytes of keys and payloads for people, and reads them back."""

import os

from state.errors import ConfigError

HEX = "0x"


def key_text(key: bytes | None) -> str:
    """Return a key as text, or as hex after ``0x`` where it is no text a terminal can show."""
    if key is None:
        return ""
    text = _decoded(key)
    plain = text is not None and text.isprintable() and not text.startswith(HEX)
    return text if plain and text is not None else HEX + key.hex()


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
    text = _decoded(payload)
    if text is None or not all(sign.isprintable() or sign in "\n\r\t" for sign in text):
        return None
    return text


def _decoded(raw: bytes) -> str | None:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None
