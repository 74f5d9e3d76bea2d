"""Where the words of the console come from: English as it stands in the code, or a catalogue.

Every text goes through ``t`` or ``tn`` here, or ``_`` and ``ngettext`` in a template. To translate
the console, load a catalogue of gettext into ``TEXTS``.
"""

import gettext

TEXTS: gettext.NullTranslations = gettext.NullTranslations()


def t(text: str, **values: object) -> str:
    """Return a text in the language of the console, with its values in place."""
    found = TEXTS.gettext(text)
    return found % values if values else found


def tn(one: str, many: str, n: int, **values: object) -> str:
    """Return the text for a number of things; ``%(num)s`` is the number."""
    return TEXTS.ngettext(one, many, n) % {"num": f"{n:,}", **values}
