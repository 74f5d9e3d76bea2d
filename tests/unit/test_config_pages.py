"""The settings file people copy, the reference page and what ``config show`` prints."""

from pathlib import Path

import yaml

from pipeline.config.load import load_settings
from pipeline.config.reference import reference
from pipeline.config.settings import Settings
from pipeline.config.show import as_yaml, shown
from pipeline.config.tree import settings_of

ROOT = Path(__file__).parents[2]
FILE = ROOT / "conf/duestream.yaml"
SECRETS = {
    "kafka.security.protocol": "SASL_SSL",
    "kafka.security.mechanism": "PLAIN",
    "kafka.security.username": "me",
    "kafka.security.password": "hunter2",
    "kafka.security.key_file": "k.pem",
    "kafka.security.certificate_file": "c.pem",
    "kafka.security.key_password": "hunter2",
    "kafka.client_options.sasl.password": "hunter2",
    "kafka.client_options.linger.ms": "5",
    "kafka.source_options.kafka.sasl.jaas.config": "hunter2",
    "kafka.producer_options.ssl.key.pem": "hunter2",
    "spark.options.spark.hadoop.fs.s3a.secret.access": "hunter2",
    "state.delta.storage_options.AWS_SECRET_ACCESS_KEY": "hunter2",
    "state.delta.storage_options.token": "hunter2",
}


def paths_in(value: object, path: str = "") -> set[str]:
    if isinstance(value, list):
        return {f"{path}[]{inner}" for item in value for inner in paths_in(item)} | {path}
    if not isinstance(value, dict):
        return {path}
    below = {inner for name, item in value.items() for inner in paths_in(item, f"{path}.{name}")}
    return below | {path}


def test_the_file_to_copy_holds_exactly_the_defaults() -> None:
    assert load_settings(FILE, {}, {}) == Settings()


def test_the_file_to_copy_names_every_setting() -> None:
    # An example below an empty list or map is written as a comment.
    text = FILE.read_text().replace(": []\n#  - ", ":\n  - ").replace(": {}\n#    ", ":\n    ")
    found = paths_in(yaml.safe_load(text.replace("\n#    ", "\n    ")))
    named = {path.removeprefix(".").replace(".orders.*.", "[NAME].") for path in found}
    wanted = {setting.path for setting in settings_of(Settings)}
    assert wanted <= named


def test_the_reference_page_is_the_one_the_models_give() -> None:
    assert (ROOT / "docs/configuration.md").read_text() == reference(), (
        "write it anew: python -m pipeline.config.reference > docs/configuration.md"
    )


def test_every_setting_is_described() -> None:
    values = [s for s in settings_of(Settings) if not s.block]
    assert [setting.path for setting in values if not setting.info.description] == []


def test_what_is_shown_reads_back_as_the_same_settings(tmp_path: Path) -> None:
    flags = {
        "publish.lookahead_min": "2500us",
        "publish.late_after": "null",
        "outputs.allow": "*",
        "outputs.shape": '{"orders.*": {"add": {"a": "1"}, "strip": ["b"], "envelope": "binary"}}',
        "kafka.source_options.a": "1",
    }
    settings = load_settings(FILE, flags, {})
    file = tmp_path / "shown.yaml"
    file.write_text(as_yaml(settings))
    assert load_settings(file, {}, {}) == settings


def test_no_secret_is_ever_shown() -> None:
    settings = load_settings(FILE, SECRETS, {})
    assert "hunter2" not in as_yaml(settings)
    assert shown(settings)["kafka"]["security"]["password"] == "****"  # noqa: S105
    assert shown(settings)["kafka"]["client_options"] == {"sasl.password": "****", "linger.ms": "5"}


def test_the_settings_as_a_python_value_hide_the_secrets_of_their_own_fields() -> None:
    settings = load_settings(FILE, {k: v for k, v in SECRETS.items() if "options" not in k}, {})
    assert "hunter2" not in repr(settings)
