import re
from pathlib import Path

from pipeline.commands import ATTRIBUTES, Command
from pipeline.dialects.attributes import CARRIED, REQUIRED, WISHES
from pipeline.dialects.json_text import DEEPEST
from pipeline.reasons import Reason

PAGE = (Path(__file__).parents[2] / "docs" / "events.md").read_text(encoding="utf-8")


def test_the_page_on_events_lists_every_reason_with_its_sentence_and_no_other():
    table = PAGE.split("| reason | meaning |\n|---|---|\n")[1].split("\n\n")[0]
    listed = re.findall(r"^\| `(\w+)` \| (.+) \|$", table, flags=re.MULTILINE)
    assert listed == [(reason.value, reason.sentence) for reason in Reason]


def test_the_page_on_events_names_every_attribute_that_is_read():
    names = {*REQUIRED, *WISHES, *CARRIED, *ATTRIBUTES, *(command.type for command in Command)}
    assert {name for name in names if f"`{name}`" not in PAGE} == set()
    assert f"nested {DEEPEST} levels deep" in PAGE


def test_a_reason_is_its_code():
    assert (str(Reason.MISSING_KEY), Reason("missing_key")) == ("missing_key", Reason.MISSING_KEY)
