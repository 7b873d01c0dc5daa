"""Every object of every kind of installation is one that the API server would take, and Helm has nothing to say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
from helm_python.chart import lint
from support.chart_render import CHART, LONG_NAME, MATRIX, named, notes, of_kind, render

VERSIONS = ("1.30", "1.34", "1.36")
CRDS = {
    name: json.loads((Path(__file__).parent / f"{name}.schema.json").read_text(encoding="utf-8"))
    for name in ("certificate", "issuer", "prometheusrule", "scaledobject", "servicemonitor")
}


@pytest.mark.parametrize("case", MATRIX)
def test_helm_lints_it(case: str) -> None:
    report = lint(str(CHART), MATRIX[case], strict=True, namespace="finance")
    assert [m for m in report["messages"] if m["severity"] > 1] == []
    assert report["errors"] == []


@pytest.mark.parametrize("case", MATRIX)
def test_every_object_is_valid(case: str) -> None:
    things = render(MATRIX[case])
    assert things
    for thing in things:
        own = CRDS.get(thing["kind"].lower())
        if own:
            jsonschema.Draft202012Validator(own).validate(thing)
        else:
            for version in VERSIONS:
                assert kubernetes_validate.validate(thing, version, strict=True) == version


def test_the_validator_sees_a_typing_mistake() -> None:
    thing = json.loads(json.dumps(named(render({}), "Deployment", "gateway")))
    thing["spec"]["template"]["spec"]["containers"][0]["readinesProbe"] = {}
    with pytest.raises(kubernetes_validate.ValidationError, match="readinesProbe"):
        kubernetes_validate.validate(thing, VERSIONS[-1], strict=True)
    scaled = json.loads(json.dumps(of_kind(render(MATRIX["keda"]), "ScaledObject")[0]))
    scaled["spec"]["minReplicas"] = 1
    with pytest.raises(jsonschema.ValidationError, match="minReplicas"):
        jsonschema.Draft202012Validator(CRDS["scaledobject"]).validate(scaled)


@pytest.mark.parametrize("case", MATRIX)
def test_no_two_objects_have_one_name(case: str) -> None:
    names = [(thing["kind"], thing["metadata"]["name"]) for thing in render(MATRIX[case], LONG_NAME)]
    assert len(names) == len(set(names))


def test_what_is_asked_for_is_there() -> None:
    on = {t["kind"] for t in render(MATRIX["everything on"])}
    assert {"Deployment", "StatefulSet", "Service", "ServiceMonitor", "Ingress", "NetworkPolicy", "Pod"} <= on
    assert len(of_kind(render(MATRIX["hpa"]), "HorizontalPodAutoscaler")) == 7
    assert len(of_kind(render(MATRIX["keda"]), "ScaledObject")) == 7
    assert {t["kind"] for t in render(MATRIX["everything off"])} == {"ConfigMap", "Secret"}
    outside = {t["metadata"]["name"] for t in render(MATRIX["outside"])}
    assert not [name for name in outside if name.endswith(("-redis", "-qdrant", "-blobs", "-keys"))]


def test_the_notes_say_what_was_installed() -> None:
    assert "get secret demo-quelea-first-key" in notes({})
    assert "extractive reader" in notes({})
    assert "PRIVILEGED" not in notes({})
    on = notes(MATRIX["everything on"])
    assert "https://quelea.example" in on
    assert "PRIVILEGED" in on
    assert "written by qwen" in on
    assert "NetworkPolicies are OFF" in notes(MATRIX["everything off"])


@pytest.mark.parametrize("case", MATRIX)
def test_nothing_is_null(case: str) -> None:
    """A key without a value is a mistake in a template, though the API server takes it."""

    def walk(value: Any, path: str) -> None:
        assert value is not None, path
        for key, inner in (
            value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ())
        ):
            walk(inner, f"{path}.{key}")

    for thing in render(MATRIX[case]):
        walk(thing, f"{thing['kind']}/{thing['metadata']['name']}")
