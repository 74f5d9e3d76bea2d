import json
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.rules.json_path import NotJsonError, parse_path, value_at
from state.rules.numbers import exact_number, number_text

PAYLOAD = b"""{"a": {"b": [1.0, "x", {"odd name": 1e30}], "c": null},
 "n": 12345678901234567890123.5, "twice": 1, "twice": 2, "it's": true,
 "o": {"z": 10e-1, "y": [ ]}, "\xc3\xbc": "\xc3\xbc"}"""


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("$.a.b[0]", "1"),
        ("a.b[0]", "1"),
        ("$['a']['b'][1]", '"x"'),
        ('$["a"].b[2]["odd name"]', "1" + "0" * 30),
        ("n", "12345678901234567890123.5"),
        ("a.c", "null"),
        ("twice", "2"),
        ("$['it\\'s']", "true"),
        ("o", '{"y":[],"z":1}'),
        ("\u00fc", '"\\u00fc"'),
        ("a.b[3]", None),
        ("a.b.x", None),
        ("a[0]", None),
        ("a.c.d", None),
        ("missing", None),
    ],
)
def test_the_value_at_a_path_is_found(path, value):
    assert value_at(PAYLOAD, path) == value


@pytest.mark.parametrize(
    "path",
    ["", ".a", "a.", "a..b", "a[", "a[-1]", "a[01]", "a[x]", "$a", "a b", "a[*]", "$.*", "$..a",
     "['a", "['a'", "a['b]", "a\\b", "a" * 300],
)  # fmt: skip
def test_what_is_no_path_is_refused_with_a_way_out(path):
    with pytest.raises(ValueError, match="write for example"):
        parse_path(path)


@pytest.mark.parametrize(
    "payload",
    [b"", b"{", b"{} x", b"[NaN]", b"[-Infinity]", b"\xff", b"\xef\xbb\xbf{}", b"'a'", b"[01]",
     b"[" * 201 + b"]" * 201, b"[" * 100_000],
)  # fmt: skip
def test_a_payload_that_is_not_json_is_told_from_one_without_the_field(payload):
    with pytest.raises(NotJsonError):
        value_at(payload, "a")
    assert value_at(b"{}", "a") is None


def test_two_hundred_levels_are_not_too_deep_and_brackets_in_strings_are_none():
    assert value_at(b"[" * 200 + b"]" * 200, "$") == "[" * 200 + "]" * 200
    text = json.dumps("[" * 300).encode()
    assert value_at(b"[" + text + b"]", "[0]") == text.decode()


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(max_size=3), inner)),
    max_leaves=10,
)


@given(json_values, st.booleans())
def test_equal_values_are_equal_texts_however_they_are_written(value, ascii_only):
    tight = json.dumps(value, sort_keys=True, separators=(",", ":"))
    loose = json.dumps(value, indent=3, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    try:
        found = value_at(loose, "$")
    except NotJsonError:
        assert b"\xed" in loose  # half a character cannot be UTF-8
        return
    assert found == tight


@given(json_values, json_values)
def test_different_values_are_different_texts(one, other):
    texts = [value_at(json.dumps(value).encode(), "$") for value in (one, other)]
    assert (texts[0] == texts[1]) == (
        json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    )


numbers = st.from_regex(
    r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?", fullmatch=True
)


@given(numbers, numbers)
def test_numbers_are_equal_texts_when_they_are_equal(one, other):
    assert (number_text(one) == number_text(other)) == (Fraction(one) == Fraction(other))
    assert Fraction(number_text(one)) == Fraction(one)
    assert exact_number(number_text(one)) == Decimal(one)
    assert number_text(number_text(one)) == number_text(one)


@given(st.integers(-(10**20), 10**20), st.integers(-45, 45), st.integers(0, 45))
def test_a_number_is_the_same_text_wherever_its_point_stands(digits, exponent, shift):
    sign, whole = "-" * (digits < 0), str(abs(digits)).rjust(shift + 1, "0")
    places = len(whole) - shift
    shifted = f"{sign}{whole[:places]}.{whole[places:]}0e{exponent + shift}"
    assert number_text(shifted) == number_text(f"{digits}E{exponent}")


@pytest.mark.parametrize(
    ("text", "written"),
    [("21.50", "21.5"), ("-0.0", "0"), ("1e3", "1000"), ("0.00012", "0.00012"),
     ("5E-100", "5E-100"),
     ("1e1000000", "1E+1000000"), ("1e" + "9" * 30, "1E" + "9" * 30), ("9" * 5000, "9" * 5000)],
)  # fmt: skip
def test_a_number_is_written_in_one_way(text, written):
    assert number_text(text) == written


@pytest.mark.parametrize(
    "text", [None, "", "x", '"1"', "null", "1" * 401, "1e401", "NaN", "Infinity"]
)
def test_what_is_no_number_or_too_long_is_not_reckoned_with(text):
    assert exact_number(text) is None
