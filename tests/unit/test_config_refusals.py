"""What is told when settings are wrong."""

from pathlib import Path

import pytest

from pipeline.config.checks import require_runnable
from pipeline.config.load import load_settings
from state.errors import ConfigError

LOGIN = {
    "kafka.security.mechanism": "PLAIN",
    "kafka.security.username": "u",
    "kafka.security.password": "p",
}


def refusal_of(flags: dict[str, object], environ: dict[str, str] | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        load_settings(Path("/dev/null"), flags, environ or {})
    return str(caught.value)


def refusal_of_file(tmp_path: Path, content: str) -> str:
    file = tmp_path / "settings.yaml"
    file.write_text(content)
    with pytest.raises(ConfigError) as caught:
        load_settings(file, {}, {})
    return str(caught.value)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("kafak: {}", "kafak: unknown setting; did you mean kafka?"),
        (
            "kafka: {security: {protcol: SSL}}",
            "kafka.security.protcol: unknown setting; did you mean protocol?",
        ),
        (
            "sources: [{topic: a, dialct: x}]",
            "sources[0].dialct: unknown setting; did you mean dialect?",
        ),
        (
            "state: {delta: {pth: /x}}",
            "state.delta.pth: unknown setting; did you mean path?",
        ),
        (
            "outputs: {shape: {'a.*': {envelop: raw}}}",
            "outputs.shape.a.*.envelop: unknown setting; did you mean envelope?",
        ),
        ("log: {zzz: 1}", "log.zzz: unknown setting; there are format, level"),
    ],
)
def test_an_unknown_name_in_the_file_is_refused_at_any_depth(
    tmp_path: Path, content: str, line: str
) -> None:
    assert refusal_of_file(tmp_path, content) == line


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("DUESTREAM_KAFKA_BOOTSTRAP_SERVERS", "DUESTREAM_KAFKA__BOOTSTRAP_SERVERS"),
        ("DUESTREAM_PUBLISH__LANE", "DUESTREAM_PUBLISH__LANES"),
        ("DUESTREAM_NAM", "DUESTREAM_NAME"),
    ],
)
def test_an_unknown_variable_is_refused_with_the_nearest_one(name: str, nearest: str) -> None:
    expected = f"{name}: no setting has this variable; did you mean {nearest}?"
    assert refusal_of({}, {name: "x"}) == expected


def test_an_unknown_flag_is_refused_with_the_nearest_one() -> None:
    sentence = "publish.lane: unknown setting; did you mean publish.lanes?"
    assert refusal_of({"publish.lane": "1"}) == sentence


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("publish.lanes", "many", "'many' is not a whole number"),
        ("publish.lanes", "65", "must be at most 64"),
        ("publish.lanes", "0", "must be at least 1"),
        ("publish.flush_interval", "5us", "must be at least 1ms"),
        ("publish.fire_id_header", "perhaps", "'perhaps' is neither true nor false"),
        ("log.level", "LOUD", "'LOUD' is not known; choose 'DEBUG', 'INFO', 'WARNING' or 'ERROR'"),
        ("name", "a b", "'a b' is no topic name"),
        ("outputs.allow", "a,b/c", "'b/c' is no pattern of topic names"),
        ("kafka.bootstrap_servers", "", "must not be empty"),
        ("sources", "[]", "must not be empty"),
        ("sources", "[{}]", "is required"),
        ("kafka.client_options", "loud", "write it as JSON"),
        ("outputs.shape.orders", "binary", "write it as JSON"),
        ("outputs.shape", "{a/b: {}}", "'a/b' is no pattern of topic names"),
        ("publish.late_after", "soon", "'soon' is not a duration"),
        ("kafka", "loud", "write it as JSON"),
        ("pipeline.trigger_interval", "90", "'90' is not a duration"),
        ("pipeline.trigger_interval", 90, "90 has no unit; write for example 500ms"),
    ],
)
def test_a_wrong_value_is_told_in_one_sentence(path: str, value: object, sentence: str) -> None:
    refusal = refusal_of({path: value})
    assert refusal.startswith(path)
    assert sentence in refusal
    assert "\n" not in refusal


def test_a_block_left_empty_in_the_file_is_told_as_such(tmp_path: Path) -> None:
    assert "outputs: must be a block of settings" in refusal_of_file(tmp_path, "outputs:\n")


def test_a_name_in_the_file_that_is_no_text_is_unknown_too(tmp_path: Path) -> None:
    assert refusal_of_file(tmp_path, "1: x").startswith("1: unknown setting")


def test_all_problems_are_listed_at_once() -> None:
    refusal = refusal_of({"publish.lanes": "x", "nam": "y"}, {"DUESTREAM_LOG__LEVL": "INFO"})
    starts = [line.partition(":")[0] for line in refusal.splitlines()]
    assert starts == ["DUESTREAM_LOG__LEVL", "nam", "publish.lanes"]


@pytest.mark.parametrize(
    "flags",
    [
        {"kafka.security.pasword": "hunter2"},
        {"kafka.security.password": ["hunter2"]},
        {"kafka.security": '{"password: "hunter2"'},
        {"state.delta.storage_options": "{secret: {a: hunter2}}"},
    ],
)
def test_a_refusal_never_repeats_a_secret(flags: dict[str, object]) -> None:
    assert "hunter2" not in refusal_of(flags)


@pytest.mark.parametrize("missing", ["mechanism", "username", "password"])
def test_sasl_needs_the_whole_login(missing: str) -> None:
    flags = {"kafka.security.protocol": "SASL_SSL"} | LOGIN
    del flags[f"kafka.security.{missing}"]
    assert refusal_of(flags) == f"kafka.security.{missing}: is not set; SASL_SSL needs it"


def test_a_login_without_sasl_is_refused_since_it_would_be_ignored() -> None:
    refusal = refusal_of(dict(LOGIN))
    assert "kafka.security.username: is of no use with PLAINTEXT" in refusal
    assert "set kafka.security.protocol to SASL_SSL or SASL_PLAINTEXT" in refusal


def test_a_certificate_and_its_key_go_together() -> None:
    flags = {"kafka.security.protocol": "SSL", "kafka.security.certificate_file": "c.pem"}
    assert refusal_of(flags).startswith("kafka.security.key_file: is not set")


def test_the_lookahead_has_room() -> None:
    refusal = refusal_of({"publish.lookahead_min": "40s"})
    assert refusal == (
        "publish.lookahead_min: 40s is more than publish.lookahead_max (30s); "
        "lower the one or raise the other"
    )


def test_a_first_pause_longer_than_the_longest_is_refused():
    refusal = refusal_of({"retry.first_delay": "10m"})
    assert "retry.first_delay: 10m is more than retry.longest_delay (5m)" in refusal


@pytest.mark.parametrize(
    "topic", ["duestream.schedules", "duestream.dead-letters", "duestream.duestream.internal"]
)
def test_an_output_may_not_be_a_topic_of_the_job_itself(topic: str) -> None:
    assert refusal_of({"outputs.allow": f"orders,{topic}"}).startswith(f"outputs.allow[1]: {topic}")


def test_one_topic_has_one_use() -> None:
    refusal = refusal_of({"dead_letter.topic": "duestream.schedules"})
    assert refusal.startswith("dead_letter.topic: duestream.schedules is already sources[0].topic")


def test_the_late_topic_is_the_jobs_own() -> None:
    refusal = refusal_of({"outputs.late_topic": "late", "outputs.allow": "late"})
    assert refusal.startswith("outputs.allow[0]: late is a topic the job itself reads or writes")
    refusal = refusal_of({"outputs.late_topic": "duestream.dead-letters"})
    assert refusal.startswith("outputs.late_topic: duestream.dead-letters is already dead_letter")


def test_where_a_message_may_come_twice_something_tells_so() -> None:
    flags = {"publish.guarantee": "at_least_once"}
    bare: dict[str, object] = {"outputs.shape": {"orders": {"fire_id_header": False}}}
    assert refusal_of(flags | bare).startswith("outputs.shape.orders.fire_id_header: with publish")
    event = {"outputs.shape": {"orders": {"fire_id_header": False, "envelope": "binary"}}}
    load_settings(Path("/dev/null"), flags | event, {})
    load_settings(Path("/dev/null"), bare, {})


def test_a_job_is_not_run_without_outputs_state_and_checkpoint() -> None:
    with pytest.raises(ConfigError) as caught:
        require_runnable(load_settings(Path("/dev/null"), {}, {}))
    starts = [line.partition(":")[0] for line in str(caught.value).splitlines()]
    assert starts == ["outputs.allow", "state.delta.path", "pipeline.checkpoint"]


def test_a_job_in_memory_needs_only_outputs() -> None:
    flags = {"state.kind": "memory", "outputs.allow": "*"}
    require_runnable(load_settings(Path("/dev/null"), flags, {}))


@pytest.mark.parametrize("allow", ["other", "remind"])
def test_an_output_topic_of_a_source_that_is_not_allowed_is_told_at_once(allow: str) -> None:
    delayed = {"topic": "delayed", "dialect": "cloudevents-mongo", "output_topic": "reminders"}
    flags = {"sources": [delayed], "outputs.allow": [allow], "state.kind": "memory"}
    with pytest.raises(ConfigError, match=r"sources\[0\]\.output_topic: reminders is not in outp"):
        require_runnable(load_settings(Path("/dev/null"), flags, {}))
    require_runnable(load_settings(Path("/dev/null"), flags | {"outputs.allow": ["remind*"]}, {}))
