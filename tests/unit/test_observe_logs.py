"""The lines of the log as JSON."""

import json
import logging
import subprocess
import sys

import pytest

from pipeline.observe.logs import JsonLines, last_words
from state.errors import StateError


def line(**given) -> dict:
    record = logging.makeLogRecord({"name": "pipeline.job", "levelname": "INFO", **given})
    text = JsonLines().format(record)
    assert "\n" not in text
    return json.loads(text)


def test_a_line_has_time_level_logger_and_message() -> None:
    found = line(created=1_700_000_000.25, msg="%d ticks, π", args=(3,))
    assert found == {
        "time": "2023-11-14T22:13:20.250Z",
        "level": "INFO",
        "logger": "pipeline.job",
        "message": "3 ticks, π",
    }


def test_given_fields_and_errors_are_part_of_the_line() -> None:
    try:
        raise ValueError("two\nlines")
    except ValueError:
        found = line(msg="failed", exc_info=sys.exc_info(), lane=2, where={"a": object})
    assert found["lane"] == 2
    assert found["error"].endswith("ValueError: two\nlines")
    assert "object" in found["where"]["a"]


def test_the_setting_decides_how_lines_look() -> None:
    script = """
import logging
from pipeline.observe.logs import set_up_logs
set_up_logs("INFO", {form!r})
logging.getLogger("pipeline.job").info("running; %s", "here", extra={{"batch": 7}})
logging.getLogger("opentelemetry.sdk").error("a push failed")
"""
    said = {}
    for form in ("json", "text"):
        command = [sys.executable, "-c", script.format(form=form)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        [said[form]] = done.stderr.splitlines()
    found = json.loads(said["json"])
    assert (found["message"], found["batch"], found["level"]) == ("running; here", 7, "INFO")
    assert said["text"].endswith("INFO running; here")


def test_the_sentence_that_ends_a_job_is_a_line_like_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(SystemExit) as ended, last_words("json"):
        raise StateError("another job runs on this state")
    assert ended.value.code == 2
    assert [(r.levelname, r.getMessage()) for r in caplog.records] == [
        ("ERROR", "another job runs on this state")
    ]
    with pytest.raises(StateError), last_words("text"):
        raise StateError("another job runs on this state")
