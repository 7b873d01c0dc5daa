"""A training on a cluster: a suspended CronJob on GPU nodes, with the models' volume, whose words the command reads."""

from __future__ import annotations

import kubernetes_validate
import pytest
import yaml
from helm_python.errors import HelmError
from support.chart_render import REPOSITORY, Object, component, containers, merged, named, of_kind, render
from typer.testing import CliRunner

SEVERAL = yaml.safe_load((REPOSITORY / "training/accelerate-gpus.yaml").read_text(encoding="utf-8"))
ON: Object = {"jobs": {"training": {"enabled": True}}, "models": {"enabled": True}}


def _job(values: Object) -> tuple[list[Object], Object, Object]:
    """All objects, the CronJob and its only container."""
    things = render(merged(ON, values))
    cron = named(things, "CronJob", "training")
    (container,) = containers(cron["spec"]["jobTemplate"]["spec"]["template"]["spec"])
    return things, cron, container


@pytest.mark.parametrize(
    "values", [{}, {"jobs": {"training": {"accelerate": SEVERAL}}}], ids=["one process", "several"]
)
def test_the_api_server_would_take_it_and_its_pod_is_restricted_to_gpu_nodes(values: Object) -> None:
    things, cron, container = _job(values)
    for thing in [one for one in things if component(one) == "training"]:
        for version in ("1.30", "1.36"):
            assert kubernetes_validate.validate(thing, version, strict=True) == version
    assert cron["spec"]["suspend"] is True
    pod = cron["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {"nvidia.com/gpu.present": "true"}
    assert [one["key"] for one in pod["tolerations"]] == ["nvidia.com/gpu"]
    assert container["resources"]["limits"]["nvidia.com/gpu"] == "1"
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert {one["name"] for one in pod["volumes"]} == {one["name"] for one in container["volumeMounts"]}
    claims = {
        one["name"]: one["persistentVolumeClaim"]["claimName"]
        for one in pod["volumes"]
        if len(one) == 2 and "persistentVolumeClaim" in one
    }
    assert list(claims) == ["models"]
    assert claims["models"] in {one["metadata"]["name"] for one in of_kind(things, "PersistentVolumeClaim")}
    assert named(things, "NetworkPolicy", "training")["spec"]["egress"] == []


def test_its_words_are_options_of_the_command() -> None:
    from quelea_training.writer.commands import app  # with what the training needs

    _, _, container = _job({})
    words = container["command"]
    assert words[:4] == ["python", "-m", "quelea_training", "sft"]
    known = CliRunner().invoke(app, ["sft", "--help"], env={"COLUMNS": "300"}).output
    assert all(one in known for one in words if one.startswith("--"))


def test_several_processes_get_the_settings_of_accelerate() -> None:
    things, _, container = _job({"jobs": {"training": {"accelerate": SEVERAL}}})
    words = container["command"]
    # As a module: the image has no scripts.
    given = ["--config_file", "/accelerate/config.yaml"]
    assert words[:7] == ["python", "-m", "accelerate.commands.launch", *given, "-m", "quelea_training"]
    (settings,) = [one for one in of_kind(things, "ConfigMap") if component(one) == "training"]
    assert yaml.safe_load(settings["data"]["config.yaml"]) == SEVERAL


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"models": {"enabled": False}}, "set models.enabled or models.existingClaim"),
        ({"jobs": {"training": {"words": []}}}, "words"),
        ({"jobs": {"training": {"shm": "much"}}}, "shm"),
    ],
    ids=str,
)
def test_what_cannot_work_is_refused(values: Object, message: str) -> None:
    with pytest.raises(HelmError, match=message):
        render(merged(ON, values))
    assert "training" not in {component(one) for one in render({}) if "labels" in one["metadata"]}
