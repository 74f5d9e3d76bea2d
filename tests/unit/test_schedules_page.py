"""The page on what to send when names all there is, and nothing else."""

import re
from pathlib import Path

from pipeline.commands import ATTRIBUTES, Command, Effect, Scope
from pipeline.schema import MEANINGS
from state.rules.refusal import Why
from state.rules.repeat import OnMiss
from state.rules.same_policy import SamePolicy
from tests.examples import FOLDER

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/schedules.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def table(head: str) -> list[tuple[str, str]]:
    """Return the first two columns of the table with this head."""
    rows = PAGE.split(f"{head}\n|---", 1)[1].split("\n", 1)[1].split("\n\n")[0]
    return re.findall(r"^\| `([^`]+)` \| ([^|]+?) \|", rows, flags=re.MULTILINE)


def test_the_table_of_attributes_is_that_of_the_schema() -> None:
    assert table("| attribute | meaning |") == list(MEANINGS.items())


def test_every_policy_is_in_its_table() -> None:
    head = "| `onsameid` | what a new event does while one is pending | example |"
    assert [name for name, _ in table(head)] == [policy.value for policy in SamePolicy]


def test_every_command_is_in_its_table_and_every_attribute_and_effect_named() -> None:
    found = [name for name, _ in table("| type | does | effects |")]
    assert found == [command.type for command in Command]
    named = [*ATTRIBUTES, *Effect, *Scope, *OnMiss, *Why]
    assert [name for name in named if f"`{name}`" not in PAGE] == []


def test_every_example_it_links_to_is_there_and_every_feature_linked() -> None:
    linked = set(re.findall(r"\(\.\./examples/([\w.-]+)\)", PAGE))
    assert {name for name in linked if not (FOLDER / name).exists()} == set()
    features = {path.name for path in FOLDER.glob("*.json")} & {
        *(path.name for path in FOLDER.glob("repeat-*")),
        *(path.name for path in FOLDER.glob("on-miss-*")),
        *(path.name for path in FOLDER.glob("same-key-*")),
        *(path.name for path in FOLDER.glob("exp*")),
    }
    assert features - linked == set()


def test_the_first_page_names_every_attribute() -> None:
    assert [name for name in MEANINGS if f"`{name}`" not in README] == []
