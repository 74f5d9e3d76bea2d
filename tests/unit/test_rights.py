"""What must be allowed, as the settings say it."""

import pytest
from typer.testing import CliRunner

from pipeline.cli.main import app
from pipeline.config.load import load_settings
from pipeline.rights import Operation, Right, audit_rights, client_rights, job_rights
from tests.acl_lines import bindings


def topics(rights: list[Right], operation: Operation) -> list[tuple[str, bool]]:
    found = [right for right in rights if right.kind == "topic" and operation in right.operations]
    return [(right.name, right.prefixed) for right in found]


@pytest.mark.parametrize(
    ("allow", "granted"),
    [
        ("orders,invoices", [("orders", False), ("invoices", False)]),
        ("orders.*,orders.new,orders", [("orders.", True), ("orders", False)]),
        ("a?c", [("a", True)]),
        ("*.late,orders", [("*", False)]),
        ("or*,orders.*", [("or", True)]),
    ],
)
def test_patterns_become_the_beginnings_that_acls_know(
    allow: str, granted: list[tuple[str, bool]]
) -> None:
    settings = load_settings(flags={"outputs.allow": allow}, environ={})
    own = {"duestream.duestream.internal", "duestream.duestream.internal.markers"}
    own |= {"duestream.dead-letters"}
    written = topics(job_rights(settings), Operation.WRITE)
    assert [one for one in written if one[0] not in own] == granted
    assert topics(audit_rights(settings), Operation.READ) == granted


def test_every_topic_that_is_read_and_every_one_of_its_own_is_named() -> None:
    flags = {
        "name": "shop",
        "sources": '[{"topic": "a"}, {"topic": "b"}]',
        "withdraw": '[{"topic": "paid", "source": "a"}]',
        "outputs.allow": "out",
        "outputs.late_topic": "late",
        "internal.topic": "mine",
    }
    settings = load_settings(flags=flags, environ={})
    rights = job_rights(settings)
    read = [name for name, _ in topics(rights, Operation.READ)]
    assert read == ["a", "b", "paid", "mine", "mine.markers"]
    made = [name for name, _ in topics(rights, Operation.CREATE)]
    assert made == ["mine", "mine.markers", "duestream.dead-letters", "late"]
    assert [right.name for right in client_rights(settings)] == ["a", "b"]


def test_a_drop_in_may_write_to_its_source_and_to_its_history() -> None:
    source = '[{"topic": "a", "dialect": "etf1", "drop_in": true, "history_topic": "past"}]'
    settings = load_settings(flags={"sources": source, "outputs.allow": "out"}, environ={})
    written = dict(topics(job_rights(settings), Operation.WRITE))
    assert {"a", "past"} <= written.keys()


def show(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["acl", "show", "--config", "/dev/null", *words])
    return done.exit_code, done.stdout or str(done.exception)


def test_the_commands_name_the_principal_quoted_for_a_shell() -> None:
    code, printed = show("--set", "outputs.allow=*", "--principal", "User:CN=duestream, O=us")
    assert code == 0
    assert "--allow-principal 'User:CN=duestream, O=us' --topic '*' --operation Write" in printed
    assert {one.principal for one in bindings(printed)} == {"User:CN=duestream, O=us"}
    assert "--command-config" not in printed


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--principal", "User:me"], "outputs.allow: names no topic"),
        (["--set", "outputs.allow=a"], "--principal: name who gets the rights"),
        (["--set", "outputs.allow=a", "--principal", "me"], "lacks its type; write User:me"),
    ],
)
def test_what_is_missing_is_told(words: list[str], sentence: str) -> None:
    code, told = show(*words)
    assert code != 0
    assert sentence in told


def test_a_client_needs_no_outputs_and_json_no_principal() -> None:
    code, printed = show("--for", "client", "--json")
    assert code == 0
    assert '"name": "duestream.schedules"' in printed
