"""What the commands of a migration say: mistakes, findings, and what to do next."""

import json
from collections import Counter
from pathlib import Path

import pytest

from pipeline.cli.migrate_output import imported_sentences, print_report, report_json
from pipeline.config.load import load_settings
from pipeline.config.settings import Settings
from pipeline.migrate.fates import Fate
from pipeline.migrate.report import Output, Report, Unread
from pipeline.migrate.run import Imported, Wish
from pipeline.migrate.source import to_look_at, to_take
from pipeline.migrate.span import Span
from state.errors import ConfigError
from tests.unit.test_cli_main import run

GOOD = Output("out", 5, allowed=True, exists=True)
UNREAD = Unread(1, 42, "invalid_time", "scheduler-epoch 'x' is not a time")


def report(*outputs: Output, unread: tuple[Unread, ...] = (), **fates: int) -> Report:
    counted = Counter({Fate(name): count for name, count in fates.items()})
    return Report("schedules", "etf1", 1_000, counted, 7, outputs or (GOOD,), unread)


def settings(**source: str) -> Settings:
    return load_settings(flags={"sources": [{"topic": "schedules", **source}]}, environ={})


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["--dialect", "kms-avr"], "--dialect: kms-avr is not known; did you mean kms-avro?"),
        ([], "--dialect: give the one of schedules"),
        (["--dialect", "cloudevents-mongo"], "--output-topic: is not set; cloudevents-mongo needs"),
        (["--dialect", "etf1", "--output-topic", "o"], "--output-topic: is of no use with etf1"),
        (["--dialect", "etf1", "--as-of", "noon"], "--as-of: 'noon' is no instant"),
    ],
)
def test_a_mistake_is_told_before_anything_is_started(
    args: list[str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, "migrate", "check", "--source", "schedules", *args) == 2
    told = capsys.readouterr().err
    assert sentence in told
    assert "starting Spark" not in told


def test_a_run_needs_a_source_of_the_job_and_a_state_that_stays(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"other is none of sources\[\]\.topic; add it there"):
        to_take(settings(dialect="etf1"), "other", "etf1")
    file = tmp_path / "settings.yaml"
    file.write_text(
        "sources: [{topic: s, dialect: etf1}]\noutputs: {allow: [o]}\nstate: {kind: memory}\n"
    )
    assert run(monkeypatch, "migrate", "run", "--source", "s", "--config", str(file)) == 2
    assert "state.kind is memory, which forgets" in capsys.readouterr().err


def test_a_source_of_the_settings_is_taken_as_it_is_there() -> None:
    given = settings(dialect="etf1", namespace="orders")
    assert to_look_at(given, "schedules", None, None) == (given, given.sources[0])
    assert to_take(given, "schedules", "etf1") == given.sources[0]
    with pytest.raises(ConfigError, match="the settings say etf1 for schedules"):
        to_look_at(given, "schedules", "karafka", None)
    with pytest.raises(ConfigError, match="the settings say none for schedules"):
        to_look_at(given, "schedules", None, "elsewhere")


def test_another_topic_stands_beside_those_of_the_settings() -> None:
    given = settings(dialect="etf1")
    with_it, source = to_look_at(given, "more", "cloudevents-mongo", "out")
    assert [each.topic for each in with_it.sources] == ["schedules", "more"]
    assert (source.dialect, source.output_topic) == ("cloudevents-mongo", "out")
    alone, _ = to_look_at(load_settings(environ={}), "more", "karafka", None)
    assert [each.topic for each in alone.sources] == ["more"]  # the default is nobody's wish


def test_a_report_says_all_there_is_to_mend(capsys: pytest.CaptureFixture[str]) -> None:
    bad = Output("old", 2, allowed=False, exists=False)
    found = report(GOOD, bad, unread=(UNREAD,), pending=5, overdue=2, unreadable=3, asking=1)
    print_report(found)
    told = capsys.readouterr().out
    assert "partition 1, offset 42: invalid_time: scheduler-epoch 'x' is not a time" in told
    assert "... and 2 more" in told
    assert "3 records cannot be taken" in told
    assert "outputs.allow: add old (2)" in told
    assert "these output topics do not exist, create them: old (2)" in told
    assert "1 schedules have commands or policies" in told
    assert [line.split() for line in told.splitlines() if line.split()[:1] == ["old"]] == [
        ["old", "2", "not", "in", "outputs.allow,", "does", "not", "exist"]
    ]
    assert "all of it can be taken" not in told


def test_a_report_with_nothing_to_mend_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    print_report(report(pending=5, sent=1_234))
    told = capsys.readouterr().out
    assert "all of it can be taken" in told
    assert "1,234" in told


def test_a_report_for_programs_has_every_figure() -> None:
    read = json.loads(report_json(report(unread=(UNREAD,), pending=5, cancelled=1, unreadable=1)))
    assert {name: read[name] for name in ("topic", "dialect", "offsets", "pending", "overdue")} == {
        "topic": "schedules",
        "dialect": "etf1",
        "offsets": 1_000,
        "pending": 5,
        "overdue": 0,
    }
    assert (read["sent"], read["cancelled"], read["replaced"], read["unreadable"]) == (0, 1, 7, 1)
    assert read["outputs"] == [{"topic": "out", "schedules": 5, "allowed": True, "exists": True}]
    assert read["unreadable_first"][0]["offset"] == 42
    assert len(read["problems"]) == 1


def test_an_import_says_what_was_taken_and_what_was_not() -> None:
    bad = Output("old", 2, allowed=False, exists=True)
    found = report(GOOD, bad, pending=5, overdue=2, unreadable=3)
    told = list(imported_sentences(Imported(found, 3, ended=1), Wish(skip_unreadable=True)))
    assert told == [
        "3 schedules were imported, 2 were known",
        "1 that were known have been replaced or have ended since",
        "5 were left out as they cannot be taken; they are still on schedules",
        "start the job with `duestream run`: whatever is on schedules up to here counts as taken",
    ]
    skipped = list(imported_sentences(Imported(report(overdue=2), 0), Wish(skip_overdue=True)))
    assert skipped[:2] == [
        "0 schedules were imported, 0 were known",
        "2 were left out as they are overdue",
    ]
    assert list(imported_sentences(Imported(found), Wish())) == [
        "nothing was imported; mend what is told above, or use --skip-unreadable"
    ]


def test_a_span_names_its_last_offsets() -> None:
    span = Span("t", {0: 5, 1: 0, 2: 7}, {0: 9, 1: 0, 2: 7})
    assert span.offsets == 4
    assert span.last == {"t": {"0": 8, "2": 6}}
    assert json.loads(span.for_spark()["endingOffsets"]) == {"t": {"0": 9, "1": 0, "2": 7}}
