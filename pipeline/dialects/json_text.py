"""Takes members out of JSON text exactly as they were written.

Spark's own JSON functions rebuild what they return: 1e30 becomes 1.0E30, and the last digits of a
long decimal are gone. A regular expression finds the text itself. Spark has parsed the JSON before,
so it may rely on strings and brackets being closed. Every quantifier is possessive: Java then loops
where it would otherwise recurse, and no input can exhaust the stack.
"""

from functools import cache

from pyspark.sql import Column
from pyspark.sql import functions as F

DEEPEST = 24  # levels of objects and arrays within a member

STRICT = {"allowSingleQuotes": "false", "allowNonNumericNumbers": "false"}

_BLANK = r"[ \t\r\n]*+"
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_PLAIN = r'[^"{}\[\]]*+'  # neither strings nor brackets

# A surrogate escape without its other half: text that no UTF-8 can carry.
_HALF_SURROGATE = (
    r"\A(?:[^\\]++|\\[^u]|\\u(?![dD][89a-fA-F])"
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})*+\\u"
)


def is_whole_object(text: Column) -> Column:
    """Tell whether ``text`` is one object to its end, with nothing nested too deeply."""
    return text.rlike(_object_of(""))


def raw_member(text: Column, name: str) -> Column:
    """Return the text of a member's value, quotes included; of several the last, empty if none.

    Not null if none: Spark writes that as two evaluations of the expression.
    """
    return F.regexp_extract(text, _member_of(name), 1)


def nested_member(text: Column, names: tuple[str, ...]) -> Column:
    """Return which of the members ``names`` is an object or an array, empty if none is."""
    pattern = _object_of(rf'"({"|".join(names)})"{_BLANK}:{_BLANK}(?=[\[{{]){_value()}|')
    return F.regexp_extract(text, pattern, 1)


def unquoted_member(text: Column, names: tuple[str, ...]) -> Column:
    """Return which of the members ``names`` is neither a string nor null, empty if none is."""
    pattern = _object_of(rf'"({"|".join(names)})"{_BLANK}:{_BLANK}(?=[^"n]){_value()}|')
    return F.regexp_extract(text, pattern, 1)


def scalar_text(raw: Column) -> Column:
    """Return a JSON string's text and any other value as it is written; null for null or none."""
    plain = F.substring(raw, F.lit(2), F.length(raw) - 2)
    escaped = F.from_json(F.concat(F.lit("["), raw, F.lit("]")), "array<string>", STRICT)[0]
    text = F.when(F.contains(raw, F.lit("\\")), escaped).otherwise(plain)
    return F.when(F.startswith(raw, F.lit('"')), text).when(~raw.isin("null", ""), raw)


def is_nested(raw: Column) -> Column:
    """Tell whether a value is an object or an array."""
    return raw.rlike(r"\A[\[{]")


def has_half_surrogate(text: Column) -> Column:
    r"""Tell whether ``text`` escapes half of a surrogate pair, such as \ud800 alone."""
    return F.contains(text, F.lit("\\u")) & text.rlike(_HALF_SURROGATE)


@cache
def _member_of(name: str) -> str:
    return _object_of(rf"{_key(name)}{_BLANK}:{_BLANK}({_value()})|")


@cache
def _object_of(wanted: str) -> str:
    # In a repeated group the last match is the one that stays, as the last of two equal names does.
    other = rf"{_STRING}{_BLANK}:{_BLANK}{_value()}"
    members = rf"(?:{_BLANK}(?:{wanted}{other}){_BLANK},?+)*+"
    return rf"\A{_BLANK}\{{{members}{_BLANK}\}}{_BLANK}\z"


def _key(name: str) -> str:
    letters = (rf"(?:{letter}|\\u00(?i:{ord(letter):02x}))" for letter in name)
    return f'"{"".join(letters)}"'


@cache
def _value() -> str:
    inner = rf"{_PLAIN}(?:{_STRING}{_PLAIN})*+"
    for _ in range(DEEPEST - 1):
        inner = rf"{_PLAIN}(?:(?:{_STRING}|[\[{{]{inner}[\]}}]){_PLAIN})*+"
    return rf'(?:{_STRING}|[\[{{]{inner}[\]}}]|[^ \t\r\n"{{}}\[\],]++)'
