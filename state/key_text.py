"""Writes keys for people."""

HEX = "0x"


def key_text(key: bytes | None) -> str:
    """Return a key as text, or as hex after ``0x`` where it is no text a terminal can show."""
    if key is None:
        return ""
    text = decoded(key)
    plain = text is not None and text.isprintable() and not text.startswith(HEX)
    return text if plain and text is not None else HEX + key.hex()


def decoded(raw: bytes) -> str | None:
    """Return bytes as text, None when they are none."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None
