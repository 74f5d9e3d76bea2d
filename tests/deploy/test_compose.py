"""docker-compose.yml and the Dockerfile, as far as they can be checked without an engine."""

import importlib.resources
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from compose_client import compose

from pipeline.config.load import load_settings

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docker-compose.yml"
PROFILES = ("mongo", "ui", "observe")


def resolved(*profiles: str, **environ: str) -> dict[str, Any]:
    """What Docker Compose makes of the file, with these profiles and variables."""
    flags = [word for profile in profiles for word in ("--profile", profile)]
    return yaml.safe_load(compose("-f", str(FILE), *flags, "config", **environ))


def test_the_compose_file_follows_the_schema_of_its_format() -> None:
    vendored = importlib.resources.files("check_jsonschema.builtin_schemas.vendor")
    schema = json.loads((vendored / "compose-spec.json").read_text())
    jsonschema.validate(yaml.safe_load(FILE.read_text()), schema)


def test_each_profile_adds_what_it_names() -> None:
    always = {"kafka", "topics", "duestream"}
    assert set(resolved()["services"]) == always
    assert set(resolved("mongo")["services"]) == always | {"mongo"}
    assert set(resolved("ui")["services"]) == always | {"kafka-ui"}
    assert set(resolved("observe")["services"]) == always | {"prometheus", "grafana"}


def test_images_are_pinned_and_ports_open_on_this_machine_only() -> None:
    for name, service in resolved(*PROFILES)["services"].items():
        assert re.search(r":v?\d+\.\d+", service["image"]), name
        assert all(port["host_ip"] == "127.0.0.1" for port in service.get("ports", [])), name


@pytest.mark.parametrize("state", ["delta", "mongo"])
def test_the_job_of_the_compose_file_has_settings_it_can_run_with(state: str) -> None:
    job = resolved("mongo", STATE=state)["services"]["duestream"]
    settings = load_settings(environ=job["environment"])
    assert settings.state.kind == state
    assert settings.name == f"duestream-{state}"
    assert settings.pipeline.checkpoint == f"/var/lib/duestream/{state}/checkpoint"
    (volume,) = job["volumes"]
    assert volume["target"] == "/var/lib/duestream"
    assert job["read_only"]


def test_what_the_compose_file_mounts_is_there() -> None:
    for service in resolved(*PROFILES)["services"].values():
        for volume in service.get("volumes", []):
            assert volume["type"] == "volume" or Path(volume["source"]).is_dir(), volume


@pytest.mark.parametrize("name", ["Dockerfile", "conf/k8s/spark.Dockerfile"])
def test_the_dockerfile_has_no_fault_that_hadolint_knows(name: str) -> None:
    hadolint = Path(sys.executable).parent / "hadolint"
    done = subprocess.run([hadolint, str(ROOT / name)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_what_prometheus_and_grafana_read_is_there() -> None:
    folder = ROOT / "conf" / "prometheus"
    settings = yaml.safe_load((folder / "compose.yml").read_text())
    assert all((folder / name).is_file() for name in settings["rule_files"])
    ((asked,),) = [each["targets"] for each in settings["scrape_configs"][0]["static_configs"]]
    assert asked == f"duestream:{load_settings(environ=image_environment()).metrics.port}"
    assert (ROOT / "conf" / "grafana" / "duestream.json").is_file()


def image_environment() -> dict[str, str]:
    """The variables that the image sets for the job."""
    return dict(re.findall(r"(DUESTREAM_(?!CACHE)\w+)=(\S+)", (ROOT / "Dockerfile").read_text()))


def test_the_image_runs_as_nobody_special_and_says_how_it_is() -> None:
    steps = (ROOT / "Dockerfile").read_text()
    last = steps[steps.rindex("\nFROM ") :]
    assert re.search(r"^USER 10001:10001$", last, re.MULTILINE)
    assert '"duestream", "health"' in last
