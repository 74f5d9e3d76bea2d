"""Settings that name a secret: where the name may stand, and what is told if it cannot be read.

There is no SDK here, so each secret that is asked for is told as a problem of its setting.
"""

import sys
from pathlib import Path

import pytest

from pipeline.config.load import load_settings
from pipeline.config.settings import Settings
from state.errors import ConfigError

NAMED = "secret://scope/key"
OPTIONS = "DUESTREAM_STATE__DELTA__STORAGE_OPTIONS"


@pytest.fixture(autouse=True)
def without_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody be asked, whatever is installed on this machine."""
    monkeypatch.setitem(sys.modules, "databricks.sdk", None)


def lines_of(
    flags: dict[str, object], environ: dict[str, str], file: Path = Path("/dev/null")
) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load_settings(file, flags, environ)
    return str(caught.value).splitlines()


@pytest.mark.parametrize(
    ("variable", "value", "setting"),
    [
        (OPTIONS, f'{{"AWS_KEY": "{NAMED}"}}', "state.delta.storage_options.AWS_KEY"),
        (f"{OPTIONS}__AWS_KEY", NAMED, "state.delta.storage_options.AWS_KEY"),
        ("DUESTREAM_STATE__MONGO", f'{{"uri": "{NAMED}"}}', "state.mongo.uri"),
        ("DUESTREAM_SOURCES", f'[{{"topic": "{NAMED}"}}]', "sources[0].topic"),
        ("DUESTREAM_OUTPUTS__ALLOW", f"orders,{NAMED}", "outputs.allow[1]"),
        ("DUESTREAM_PUBLISH__LANES", NAMED, "publish.lanes"),
    ],
)
def test_a_secret_named_anywhere_in_a_variable_is_asked_for_by_its_setting(
    variable: str, value: str, setting: str
) -> None:
    (line,) = lines_of({}, {variable: value})
    assert line.startswith(f"{setting}: {NAMED} is read with the Databricks SDK")


@pytest.mark.parametrize(
    "text",
    [
        "secret://scope",
        "secret://scope/",
        "secret://scope/a/b",
        "secret://sc ope/key",
        "SECRET://scope/key",
        " secret://scope/key",
        "secret://scope/key\n",
    ],
)
def test_what_begins_as_a_secret_and_is_none_is_refused_with_the_right_form(
    tmp_path: Path, text: str
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(f"state: {{mongo: {{password: {text!r}}}}}".replace("'", '"'))
    options = {"kafka.client_options.sasl.password": text}
    refused = lines_of(options, {f"{OPTIONS}__AWS_KEY": text}, file)
    assert {line.partition(":")[0] for line in refused} == {
        "kafka.client_options.sasl.password",
        "state.delta.storage_options.AWS_KEY",
        "state.mongo.password",
    }
    assert all("write secret://SCOPE/KEY" in line for line in refused)


def test_a_text_that_has_a_secret_further_on_is_no_name_of_one() -> None:
    settings = load_settings(Path("/dev/null"), {"spark.options.x": f"see {NAMED}"}, {})
    assert settings.spark.options == {"x": f"see {NAMED}"}


def test_a_secret_that_another_layer_covers_is_not_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    options = f"client_options: {{a: {NAMED}, b: {NAMED}}}"
    file.write_text(f"kafka: {{{options}}}\nstate: {{mongo: {{uri: {NAMED}}}}}")
    environ = {"DUESTREAM_KAFKA__CLIENT_OPTIONS__a": "1", "DUESTREAM_NAME": NAMED}
    flags = {"kafka.client_options.b": "2", "name": "n", "state.mongo.uri": "null"}
    settings = load_settings(file, flags, environ)
    assert settings.kafka.client_options == {"a": "1", "b": "2"}
    assert (settings.name, settings.state.mongo.uri) == ("n", None)
    (line,) = lines_of(dict(flags), {}, file)
    assert line.startswith("kafka.client_options.a: ")


def test_an_unread_secret_is_told_beside_all_else_that_is_wrong() -> None:
    told = lines_of({"publish.lanes": NAMED, "log.level": "LOUD"}, {"DUESTREAM_NAM": "x"})
    starts = [line.partition(":")[0] for line in told]
    assert starts == ["DUESTREAM_NAM", "publish.lanes", "log.level"]


def test_settings_made_in_code_ask_for_nothing() -> None:
    assert Settings(spark={"options": {"x": NAMED}}).spark.options == {"x": NAMED}
