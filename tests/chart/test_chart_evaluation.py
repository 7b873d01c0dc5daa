"""An evaluation on a cluster: a CronJob whose command is one of ours, and gateways that show what it writes."""

from __future__ import annotations

import json
import re
from typing import Any

import kubernetes_validate
import pytest
import yaml
from helm_python.errors import HelmError
from quelea_evaluation.omni.reporting.comparison import read_thresholds
from quelea_evaluation.publishing.steps import Means, find_benches, find_questions, read_request
from support.chart_render import MATRIX, Object, component, containers, merged, named, of_kind, pods, render

ON: Object = {"jobs": {"evaluation": {"enabled": True, "questions": {"configMap": "questions"}}}}
GATE: Object = {"metrics": {"map_relevant": {}, "hallucination": {"at_most": 0.1}}, "failures_at_most": 0.02}
S3: Object = {"blobs": {"url": "s3://bucket/quelea/", "existingSecret": "s3"}}


def _job(values: Object) -> tuple[list[Object], Object, Object]:
    """All objects, the CronJob and its only container."""
    things = render(merged(ON, values))
    cron = named(things, "CronJob", "evaluation")
    (container,) = containers(cron["spec"]["jobTemplate"]["spec"]["template"]["spec"])
    return things, cron, container


def _environment(container: Object) -> dict[str, Any]:
    return {one["name"]: one.get("value") or one["valueFrom"]["secretKeyRef"] for one in container["env"]}


def _gateway(things: list[Object]) -> Object:
    (pod,) = [pod for name, pod in pods(things) if name.endswith("-gateway")]
    return containers(pod)[0]


@pytest.mark.parametrize(
    "values",
    [{}, S3, {"jobs": {"evaluation": {"schedule": "5 1 * * *"}}}, {"jobs": {"evaluation": {"gate": GATE}}}],
    ids=str,
)
def test_the_api_server_would_take_it_and_its_pod_is_restricted(values: Object) -> None:
    things, cron, container = _job(values)
    for thing in [one for one in things if component(one) == "evaluation"]:
        for version in ("1.30", "1.36"):
            assert kubernetes_validate.validate(thing, version, strict=True) == version
    pod = cron["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["automountServiceAccountToken"] is False
    assert {one["name"] for one in pod["volumes"]} == {one["name"] for one in container["volumeMounts"]}
    assert bool(cron["spec"].get("suspend")) is ("schedule" not in str(values))


@pytest.mark.parametrize(("values", "place"), [({}, "/evaluations"), (S3, "s3://bucket/quelea/evaluations")], ids=str)
def test_it_writes_where_the_gateways_read(values: Object, place: str) -> None:
    things, _, container = _job(values)
    words = container["command"]
    assert words[words.index("--store") + 1] == place
    gateway = _gateway(things)
    assert _environment(gateway)["QUELEA_GATEWAY_EVALUATIONS_URL"] == place
    mounts = [
        {one["name"]: one.get("subPath") for one in each["volumeMounts"]}.get("evaluations", "not mounted")
        for each in (gateway, container)
    ]
    assert mounts == (["not mounted"] * 2 if values else ["evaluations"] * 2)
    assert "QUELEA_GATEWAY_EVALUATIONS_URL" not in _environment(_gateway(render({})))


def test_its_words_are_read_by_the_command(tmp_path: Any) -> None:
    _, _, container = _job({"reader": {"endpoint": "http://vllm:8000/v1", "model": "qwen", "apiKeySecret": "engine"}})
    words = container["command"]
    assert words[:5] == ["python", "-m", "quelea_evaluation", "work", "--once"]
    (tmp_path / "questions.jsonl").write_text("")
    means = Means("", {}, find_questions(tmp_path), find_benches(None))
    asked = read_request(words[words.index("--ask") + 1], means)
    assert (asked["kind"], asked["name"], asked["settings"]["route"]) == ("omni", "nightly", "local")
    environment = _environment(container)
    assert environment["QUELEA_EVAL_MODELS"] == "reader=qwen@http://vllm:8000/v1"
    assert environment["QUELEA_EVAL_API_KEY"] == {"name": "engine", "key": "api-key"}
    assert environment["QUELEA_API_KEY"]["key"] == "key"


def test_a_gate_reaches_the_command_as_it_stands_in_the_values(tmp_path: Any) -> None:
    things, cron, container = _job({"jobs": {"evaluation": {"gate": GATE}}})
    words = container["command"]
    (mount,) = [one for one in container["volumeMounts"] if one["name"] == "gate"]
    place, file = words[words.index("--gate") + 1].rsplit("/", 1)
    assert (mount["mountPath"], mount["readOnly"]) == (place, True)
    pod = cron["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (volume,) = [one for one in pod["volumes"] if one["name"] == "gate"]
    (limits,) = [one for one in of_kind(things, "ConfigMap") if one["metadata"]["name"] == volume["configMap"]["name"]]
    (tmp_path / file).write_text(limits["data"][file])
    assert read_thresholds(tmp_path / file) == GATE == yaml.safe_load(limits["data"][file])
    things, _, container = _job({})
    assert "--gate" not in container["command"]
    assert not [one for one in of_kind(things, "ConfigMap") if component(one) == "evaluation"]


def test_how_an_evaluation_ended_is_not_asked_a_second_time() -> None:
    _, cron, container = _job({})
    spec = cron["spec"]["jobTemplate"]["spec"]
    (rule,) = spec["podFailurePolicy"]["rules"]
    assert rule["action"] == "FailJob"
    assert rule["onExitCodes"] == {"containerName": container["name"], "operator": "In", "values": [1]}
    assert (spec["backoffLimit"], spec["template"]["spec"]["restartPolicy"]) == (2, "Never")


def test_it_may_call_the_gateway_and_the_gateway_takes_it() -> None:
    things, _, _ = _job({"networkPolicy": {"gatewayFrom": [{"namespaceSelector": {"matchLabels": {"a": "b"}}}]}})
    own, gateway = (named(things, "NetworkPolicy", one)["spec"] for one in ("evaluation", "gateway"))
    assert own["ingress"] == []
    called = [to["podSelector"]["matchLabels"] for rule in own["egress"] for to in rule["to"] if "podSelector" in to]
    assert "gateway" in {one.get("app.kubernetes.io/component") for one in called}
    taken = json.dumps(gateway["ingress"])
    assert '"app.kubernetes.io/component": "evaluation"' in taken
    assert '"evaluation"' not in json.dumps(named(render({}), "NetworkPolicy", "gateway")["spec"])


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"jobs": {"evaluation": {"questions": {"configMap": ""}}}}, "name the ConfigMap or the volume claim"),
        ({"jobs": {"evaluation": {"questions": {"existingClaim": "c"}}}}, "name one"),
        ({"keys": {"existingSecret": "keys"}}, "gatewayKeySecret"),
        ({"jobs": {"evaluation": {"models": ["judge"]}}}, "models"),
        ({"jobs": {"evaluation": {"schedule": "daily"}}}, "schedule"),
        ({"jobs": {"evaluation": {"gate": {"metrics": {"em_max": {"minimum": 1}}}}}}, "minimum"),
        ({"jobs": {"evaluation": {"gate": {"failures_at_most": 0.1}}}}, "metrics"),
        (
            {"jobs": {"evaluation": {"gate": GATE, "ask": '{"kind": "arena", "settings": {}}'}}},
            "must be of kind omni",
        ),
    ],
    ids=str,
)
def test_what_cannot_work_is_refused(values: Object, said: str) -> None:
    with pytest.raises(HelmError, match=re.escape(said)):
        render(merged(ON, values))


def test_it_is_off_by_itself() -> None:
    crons = [one for case in MATRIX for one in of_kind(render(MATRIX[case]), "CronJob")]
    assert "evaluation" not in map(component, crons)
