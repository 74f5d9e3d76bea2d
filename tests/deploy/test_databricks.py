"""The bundle of conf/databricks: whole, and made of fields that Databricks knows."""

from pathlib import Path
from typing import Any

import pytest
from bundle import FOLDER, read_bundle
from databricks.bundles.jobs import Job
from databricks.bundles.schemas import Schema
from databricks.bundles.volumes import Volume

from pipeline.config import secrets
from pipeline.config.checks import require_runnable
from pipeline.config.flags import parse_flags
from pipeline.config.load import load_settings

TARGETS = ("dev", "prod")


@pytest.mark.parametrize("target", TARGETS)
def test_resources_have_no_field_that_databricks_does_not_know(target: str) -> None:
    for kind, model in {"jobs": Job, "schemas": Schema, "volumes": Volume}.items():
        for given in read_bundle(target)["resources"][kind].values():
            assert model.from_dict(given).as_dict() == given


def parameters_of(job: dict[str, Any]) -> list[str]:
    (task,) = job["tasks"]
    return task["python_wheel_task"]["parameters"]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["duestream", "duestream_once"])
def test_each_job_is_given_settings_it_can_run_with(
    name: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(
        secrets.Workspace, "secret", lambda _, scope, key: asked.append(key) or scope
    )
    job = read_bundle(target)["resources"]["jobs"][name]
    flags = [word.removeprefix("--set=") for word in parameters_of(job) if "--set=" in word]
    given = [each["new_cluster"]["spark_env_vars"] for each in job.get("job_clusters", [])]
    settings = load_settings(flags=parse_flags(flags), environ=given[0] if given else {})
    require_runnable(settings)
    assert settings.pipeline.checkpoint.startswith("/Volumes/")
    assert job["max_concurrent_runs"] == 1
    assert asked == ([] if given else ["kafka-username", "kafka-password"])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["duestream", "duestream_once"])
def test_the_checkpoint_and_the_names_are_in_the_schema_that_is_made(
    name: str, target: str
) -> None:
    resources = read_bundle(target)["resources"]
    schema, volume = resources["schemas"]["duestream"], resources["volumes"]["duestream"]
    place = [schema["catalog_name"], schema["name"]]
    parameters = parameters_of(resources["jobs"][name])
    assert volume["schema_name"] == schema["name"]
    assert f"--set=state.delta.catalog_schema={'.'.join(place)}" in parameters
    checkpoint = "/".join(["/Volumes", *place, volume["name"], "duestream"])
    assert f"--set=pipeline.checkpoint={checkpoint}" in parameters


def test_both_jobs_have_one_state_and_only_one_of_them_runs() -> None:
    jobs = read_bundle("prod")["resources"]["jobs"]
    always, now_and_then = jobs["duestream"], jobs["duestream_once"]
    own = [word for word in parameters_of(now_and_then) if word not in parameters_of(always)]
    assert own[0] == "--once"
    assert all("=secret://duestream/" in word for word in own[1:])
    assert [w for w in parameters_of(now_and_then) if w not in own] == parameters_of(always)
    assert always["continuous"] == {"pause_status": "UNPAUSED"}
    assert now_and_then["schedule"]["pause_status"] == "PAUSED"


def test_the_job_that_always_runs_has_a_driver_of_its_own() -> None:
    (cluster,) = read_bundle("prod")["resources"]["jobs"]["duestream"]["job_clusters"]
    assert cluster["new_cluster"]["data_security_mode"] == "SINGLE_USER"


def test_the_job_that_runs_now_and_then_is_serverless() -> None:
    job = read_bundle("prod")["resources"]["jobs"]["duestream_once"]
    (task,), (environment,) = job["tasks"], job["environments"]
    assert task["environment_key"] == environment["environment_key"]
    assert not {"job_cluster_key", "new_cluster", "libraries"} & task.keys()
    assert "job_clusters" not in job


def test_the_wheel_is_looked_for_where_it_is_built() -> None:
    bundle = read_bundle("dev")
    built = (FOLDER / bundle["artifacts"]["duestream"]["path"]).resolve() / "dist"
    jobs = bundle["resources"]["jobs"]
    ((library,),) = [task["libraries"] for task in jobs["duestream"]["tasks"]]
    ((wheel,),) = [each["spec"]["dependencies"] for each in jobs["duestream_once"]["environments"]]
    for found in (library["whl"], wheel):
        assert (FOLDER / "resources" / Path(found).parent).resolve() == built
