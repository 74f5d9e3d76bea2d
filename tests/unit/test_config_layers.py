"""Where settings come from, and which layer wins."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from pipeline.config.flags import parse_flags
from pipeline.config.load import load_settings
from pipeline.config.settings import Settings
from state.errors import ConfigError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder that is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_any_layer_the_defaults_hold(folder: Path) -> None:
    assert load_settings(None, {}, {}) == Settings()


def test_flags_win_over_the_environment_and_that_over_the_file(folder: Path) -> None:
    file = folder / "mine.yaml"
    file.write_text("publish: {lanes: 2, claim_limit: 20, fire_id_header: true}\nname: file\n")
    environ = {"DUESTREAM_PUBLISH__LANES": "3", "DUESTREAM_PUBLISH__CLAIM_LIMIT": "30"}
    settings = load_settings(file, {"publish.lanes": "4"}, environ)
    assert (settings.publish.lanes, settings.publish.claim_limit) == (4, 30)
    assert settings.publish.fire_id_header
    assert settings.name == "file"


@pytest.mark.parametrize(
    ("given", "present", "expected"),
    [
        ("asked.yaml", ["asked.yaml", "env.yaml", "duestream.yaml"], "asked.yaml"),
        (None, ["env.yaml", "duestream.yaml"], "env.yaml"),
        (None, ["duestream.yaml", "conf/duestream.yaml"], "duestream.yaml"),
        (None, ["conf/duestream.yaml"], "conf/duestream.yaml"),
    ],
)
def test_the_file_is_looked_for_in_the_promised_order(
    folder: Path, given: str | None, present: list[str], expected: str
) -> None:
    (folder / "conf").mkdir()
    for name in present:
        (folder / name).write_text(f"name: {name.replace('/', '.')}")
    environ = {"DUESTREAM_CONFIG": "env.yaml"} if "env.yaml" in present else {}
    settings = load_settings(Path(given) if given else None, {}, environ)
    assert settings.name == expected.replace("/", ".")


def test_a_file_that_was_asked_for_must_be_there(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"missing\.yaml cannot be read: No such file"):
        load_settings(None, {}, {"DUESTREAM_CONFIG": "missing.yaml"})


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("name: [", "is not YAML: look at line 1"),
        ("- a\n- b\n", "holds no settings"),
        (b"name: \xff\xfe", "not UTF-8"),
    ],
)
def test_a_file_that_is_no_settings_file_is_told_apart(
    folder: Path, content: str | bytes, sentence: str
) -> None:
    file = folder / "bad.yaml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ConfigError, match=sentence):
        load_settings(file, {}, {})


def test_an_empty_file_means_the_defaults(folder: Path) -> None:
    file = folder / "empty.yaml"
    file.write_text("# nothing\n")
    assert load_settings(file, {}, {}) == Settings()


def test_texts_give_lists_blocks_maps_and_null(folder: Path) -> None:
    environ = {
        "DUESTREAM_OUTPUTS__ALLOW": "orders, invoices.*",
        "DUESTREAM_SOURCES": json.dumps([{"topic": "in", "dialect": "cloudevents"}]),
        "DUESTREAM_KAFKA__CLIENT_OPTIONS": '{"linger.ms": 5, "enable.idempotence": true}',
        "DUESTREAM_INTERNAL__TOPIC": "null",
        "DUESTREAM_PIPELINE__TRIGGER_INTERVAL": "PT2S",
    }
    settings = load_settings(None, {"outputs.allow": '["a", "*"]'}, environ)
    assert settings.outputs.allow == ["a", "*"]
    assert [source.topic for source in settings.sources] == ["in"]
    assert settings.kafka.client_options == {"linger.ms": "5", "enable.idempotence": "true"}
    assert settings.internal.topic is None
    assert settings.pipeline.trigger_interval == 2_000_000
    assert load_settings(None, {}, environ).outputs.allow == ["orders", "invoices.*"]


def test_one_option_of_a_map_can_be_given_alone_and_keeps_its_name(folder: Path) -> None:
    flags = parse_flags(["kafka.source_options.kafka.max.poll.records=5"])
    environ = {"DUESTREAM_STATE__DELTA__STORAGE_OPTIONS__AWS_Region": "eu:1"}
    settings = load_settings(None, flags, environ)
    assert settings.kafka.source_options == {"kafka.max.poll.records": "5"}
    options = settings.state.delta.storage_options
    assert {name: option.get_secret_value() for name, option in options.items()} == {
        "AWS_Region": "eu:1"
    }


def test_an_option_given_by_a_variable_stays_the_text_it_is(folder: Path) -> None:
    environ = {
        "DUESTREAM_SPARK__OPTIONS__spark__x": '{"a": 1}',
        "DUESTREAM_SPARK__OPTIONS__spark.y": "null",
    }
    options = load_settings(None, {}, environ).spark.options
    assert options == {"spark.x": '{"a": 1}', "spark.y": "null"}


def test_one_setting_of_a_block_wins_over_the_block_given_whole(folder: Path) -> None:
    environ = {
        "DUESTREAM_PUBLISH": '{"lanes": 2, "claim_limit": 20}',
        "DUESTREAM_PUBLISH__LANES": "3",
    }
    publish = load_settings(None, {"publish": "{claim_limit: 30}"}, environ).publish
    assert (publish.lanes, publish.claim_limit) == (3, 30)


def test_an_empty_variable_takes_away_a_list_or_a_value(folder: Path) -> None:
    file = folder / "mine.yaml"
    file.write_text("outputs: {allow: [orders]}\ninternal: {topic: mine}\n")
    environ = {"DUESTREAM_OUTPUTS__ALLOW": "", "DUESTREAM_INTERNAL__TOPIC": ""}
    settings = load_settings(file, {}, environ)
    assert (settings.outputs.allow, settings.internal.topic) == ([], None)


def test_only_the_environment_that_is_given_counts(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUESTREAM_NAME", "from-the-process")
    assert load_settings(None, {}, {}).name == "duestream"
    assert load_settings(None, {}, {"DUESTREAM_NAME": "given"}).name == "given"
    assert load_settings(None, {}).name == "from-the-process"


def test_settings_made_in_code_do_not_look_around(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUESTREAM_NAME", "from-the-process")
    (folder / "duestream.yaml").write_text("name: file\n")
    assert Settings().name == "duestream"
    load_settings(None, {})
    assert Settings().name == "duestream"


def test_loaded_settings_cannot_change(folder: Path) -> None:
    settings = load_settings(None, {}, {})
    with pytest.raises(ValidationError):
        settings.name = "other"
    with pytest.raises(ValidationError):
        settings.publish.lanes = 1


def test_a_flag_keeps_every_sign_after_the_first_equals() -> None:
    assert parse_flags(["spark.options.x=a=b,c", "name=one", "name=two"]) == {
        "spark.options.x": "a=b,c",
        "name": "two",
    }


def test_a_flag_without_a_value_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"--set publish[.]lanes=VALUE"):
        parse_flags(["publish.lanes"])


def test_reserved_variables_are_no_settings(folder: Path) -> None:
    environ = {"DUESTREAM_CACHE": "/x", "DUESTREAM_TEST_PORT": "1", "DUESTREAM_CONFIG": ""}
    assert load_settings(None, {}, environ) == Settings()


@pytest.mark.parametrize(
    ("flags", "environ"),
    [
        ({"outputs.shape": '{"orders.v1": {"envelope": "binary"}}'}, {}),
        ({"outputs.shape.orders.v1": '{"envelope": "binary"}'}, {}),
        ({}, {"DUESTREAM_OUTPUTS__SHAPE": '{"orders.v1": {"envelope": "binary"}}'}),
        ({}, {"DUESTREAM_OUTPUTS__SHAPE__orders.v1": '{"envelope": "binary"}'}),
    ],
)
def test_a_block_in_a_map_is_given_as_json_by_its_name_or_with_the_map(
    folder: Path, flags: dict[str, object], environ: dict[str, str]
) -> None:
    shape = load_settings(None, flags, environ).outputs.shape
    assert {topic: block.envelope for topic, block in shape.items()} == {"orders.v1": "binary"}


def test_the_shapes_keep_the_order_of_the_file(folder: Path) -> None:
    file = folder / "mine.yaml"
    file.write_text("outputs: {shape: {z: {}, 'b*': {}, a: {}}}\n")
    assert list(load_settings(file, {}, {}).outputs.shape) == ["z", "b*", "a"]


def test_a_span_that_may_be_null_is_read_as_both(folder: Path) -> None:
    assert load_settings(None, {"publish.late_after": "null"}, {}).publish.late_after is None
    assert load_settings(None, {"publish.late_after": "2m"}, {}).publish.late_after == 120_000_000


def test_what_kubernetes_says_of_services_is_not_taken_for_settings(folder: Path) -> None:
    environ = {
        "DUESTREAM_SERVICE_HOST": "10.0.0.1",
        "DUESTREAM_PORT": "tcp://10.0.0.1:80",
        "DUESTREAM_PORT_80_TCP_ADDR": "10.0.0.1",
        "DUESTREAM_UI_SVC_SERVICE_PORT_HTTP": "80",
    }
    assert load_settings(None, {}, environ) == Settings()
    assert load_settings(None, {}, {"DUESTREAM_METRICS__PORT": "9464"}).metrics.port == 9464
    with pytest.raises(ConfigError, match="DUESTREAM_PORTS"):
        load_settings(None, {}, {"DUESTREAM_PORTS": "1"})
