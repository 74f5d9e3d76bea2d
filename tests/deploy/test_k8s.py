"""The manifests of conf/k8s against the schemas of Kubernetes and of the Spark operator."""

import copy
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from kubeflow_spark_api.models import SparkV1beta2SparkApplication

from pipeline.config.checks import require_runnable
from pipeline.config.load import load_settings

FOLDER = Path(__file__).parents[2] / "conf" / "k8s"
OF_THE_OPERATOR = "sparkoperator.k8s.io/v1beta2"


def documents() -> list[dict[str, Any]]:
    return [doc for file in sorted(FOLDER.glob("*.yaml")) for doc in _read(file)]


def _read(file: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(file.read_text()))


def one(kind: str) -> dict[str, Any]:
    (found,) = [doc for doc in documents() if doc["kind"] == kind]
    return found


@pytest.mark.parametrize(
    "document",
    [doc for doc in documents() if doc["apiVersion"] != OF_THE_OPERATOR],
    ids=lambda doc: f"{doc['kind']} {doc['metadata']['name']}",
)
def test_a_manifest_follows_the_schema_of_kubernetes(document: dict[str, Any]) -> None:
    kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)


def test_the_spark_application_is_one_that_the_operator_knows() -> None:
    application = one("SparkApplication")
    misspelt = copy.deepcopy(application)
    misspelt["spec"]["driver"]["memmory"] = "1g"
    read = SparkV1beta2SparkApplication.from_dict
    assert read(application).to_dict() == application
    assert read(misspelt).to_dict() != misspelt, "a field that does not exist was not noticed"


def test_the_settings_are_those_of_a_job_that_can_run(tmp_path: Path) -> None:
    file = tmp_path / "duestream.yaml"
    file.write_text(one("ConfigMap")["data"]["duestream.yaml"])
    require_runnable(load_settings(file, environ=one("Secret")["stringData"]))


def test_probes_ask_where_the_image_answers() -> None:
    (container,) = one("Deployment")["spec"]["template"]["spec"]["containers"]
    ((port,), dockerfile) = (container["ports"], (FOLDER.parents[1] / "Dockerfile").read_text())
    assert f"DUESTREAM_METRICS__PORT={port['containerPort']} " in dockerfile
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"]["port"] == port["name"]


def test_there_is_never_more_than_one_job_on_the_state() -> None:
    spec = one("Deployment")["spec"]
    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})


def test_the_pods_have_no_rights_they_do_not_need() -> None:
    pod = one("Deployment")["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    application = one("SparkApplication")["spec"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert not pod["automountServiceAccountToken"]
    for place in (pod["securityContext"], application["driver"]["podSecurityContext"]):
        assert place["runAsNonRoot"]
        assert place["runAsUser"] == 10001  # as the Dockerfile says
    for place in (container, application["driver"], application["executor"]):
        assert place["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert not place["securityContext"]["allowPrivilegeEscalation"]


def test_what_is_mounted_and_asked_for_by_name_is_there() -> None:
    names = {(doc["kind"], doc["metadata"]["name"]) for doc in documents()}
    pod = one("Deployment")["spec"]["template"]["spec"]
    driver = one("SparkApplication")["spec"]["driver"]
    (container,) = pod["containers"]
    assert ("ServiceAccount", driver["serviceAccount"]) in names
    for place in (container, driver):
        assert ("Secret", place["envFrom"][0]["secretRef"]["name"]) in names
    for volume in pod["volumes"]:
        if "configMap" in volume:
            assert ("ConfigMap", volume["configMap"]["name"]) in names
        if "persistentVolumeClaim" in volume:
            claim = volume["persistentVolumeClaim"]["claimName"]
            assert ("PersistentVolumeClaim", claim) in names
