"""Makes every character of a text visible, so that none can hide, reorder or end anything."""

import re

from markupsafe import Markup, escape

_NAMES = {0x7F: "\u2421"}  # the picture of DEL
# Controls but tab and line feed; signs that turn the direction of text or have no width.
_HIDDEN = re.compile(
    "([\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff])"
)


def visible(text: str) -> Markup:
    """Return a text as HTML: escaped, and with a small mark for each character one cannot see."""
    parts = _HIDDEN.split(text)
    return Markup("").join(
        _mark(part) if place % 2 else escape(part) for place, part in enumerate(parts)
    )


def _mark(sign: str) -> Markup:
    number = ord(sign)
    picture = chr(0x2400 + number) if number < 0x20 else _NAMES.get(number, f"U+{number:04X}")
    return Markup('<span class="sign" title="U+{:04X}">{}</span>').format(number, picture)
