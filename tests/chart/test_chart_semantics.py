"""What no schema sees: that the objects of one installation fit together."""

from __future__ import annotations

import copy
import re
from itertools import product

import pytest
from support.chart_render import (
    CHART,
    LONG_NAME,
    MATRIX,
    Object,
    component,
    containers,
    merged,
    named,
    of_kind,
    pods,
    render,
    workloads,
)

CASES = pytest.mark.parametrize(("case", "release"), list(product(MATRIX, ("demo", LONG_NAME))))


def _fits(selector: Object, labels: Object) -> bool:
    return selector.items() <= labels.items()


def _labels_of_pods(things: list[Object]) -> dict[str, Object]:
    found = {component(t): t["spec"]["template"]["metadata"]["labels"] for t in workloads(things)}
    return found | {component(t): t["metadata"]["labels"] for t in of_kind(things, "Pod")}


@CASES
def test_selectors_choose_exactly_their_own_pods(case: str, release: str) -> None:
    things = render(MATRIX[case], release)
    labels = _labels_of_pods(things)
    for thing in of_kind(things, "Deployment", "StatefulSet", "Service", "PodDisruptionBudget", "ServiceMonitor"):
        selector = thing["spec"]["selector"]
        chosen = {name for name, own in labels.items() if _fits(selector.get("matchLabels", selector), own)}
        assert chosen == {component(thing)}, thing["metadata"]["name"]


@CASES
def test_ports_of_services_are_ports_of_containers(case: str, release: str) -> None:
    things = render(MATRIX[case], release)
    by_component = {component(t): t for t in workloads(things)}
    for service in of_kind(things, "Service"):
        pod = by_component[component(service)]["spec"]["template"]["spec"]
        open_ports = {p["name"]: p["containerPort"] for c in containers(pod) for p in c.get("ports", [])}
        for port in service["spec"]["ports"]:
            assert open_ports[port["targetPort"]] == port["port"]
    for monitor in of_kind(things, "ServiceMonitor"):
        service = named(things, "Service", component(monitor))
        for end in monitor["spec"]["endpoints"]:
            assert end["port"] in {p["name"] for p in service["spec"]["ports"]}
    for route in of_kind(things, "Ingress"):
        to = route["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]
        (service,) = [t for t in of_kind(things, "Service") if t["metadata"]["name"] == to["name"]]
        assert to["port"]["name"] in {p["name"] for p in service["spec"]["ports"]}


_GIVEN_BY_THE_USER = {
    "outside": {"redis", "qdrant", "s3", "gateway-keys", "gateway-key", "engine"},
    "everything on": {"digest", "engine-key", "providers", "pull", "tls"},
    "airgapped": {"registry-internal"},
    "signed in": {"sign-in"},
}


@CASES
def test_every_reference_resolves(case: str, release: str) -> None:
    things = render(MATRIX[case], release)
    given = _GIVEN_BY_THE_USER.get(case, set())
    secrets = {t["metadata"]["name"]: t["data"] for t in of_kind(things, "Secret")}
    secrets |= {t["spec"]["secretName"]: {} for t in of_kind(things, "Certificate")}
    maps = {t["metadata"]["name"]: t["data"] for t in of_kind(things, "ConfigMap")}
    claims = {t["metadata"]["name"] for t in of_kind(things, "PersistentVolumeClaim")}
    accounts = {t["metadata"]["name"] for t in of_kind(things, "ServiceAccount")}
    used: set[str] = set()
    for name, pod in pods(things):
        if "serviceAccountName" in pod:
            assert pod["serviceAccountName"] in accounts
        used |= {s["name"] for s in pod.get("imagePullSecrets", [])}
        own = {v["name"]: v for v in pod["volumes"]}
        templates = [t for t in of_kind(things, "StatefulSet") if t["metadata"]["name"] == name]
        own |= {v["metadata"]["name"]: {} for t in templates for v in t["spec"].get("volumeClaimTemplates", [])}
        mounted = {m["name"] for c in containers(pod) for m in c.get("volumeMounts", [])}
        assert mounted == own.keys(), name
        for volume in own.values():
            if "secret" in volume:
                used.add(volume["secret"]["secretName"])
            if "configMap" in volume:
                assert volume["configMap"]["name"] in maps
            if "persistentVolumeClaim" in volume:
                assert volume["persistentVolumeClaim"]["claimName"] in claims
        for container in containers(pod):
            for variable in container.get("env", []):
                ref = variable.get("valueFrom", {}).get("secretKeyRef")
                if ref:
                    used.add(ref["name"])
                    assert ref["name"] in given or ref["key"] in secrets[ref["name"]]
            used |= {s["secretRef"]["name"] for s in container.get("envFrom", [])}
            for word in container.get("command", []):
                if str(word).startswith("/etc/quelea/scripts/"):
                    (mount,) = [m for m in container["volumeMounts"] if m["mountPath"] == "/etc/quelea/scripts"]
                    assert word.rsplit("/", 1)[1] in maps[own[mount["name"]]["configMap"]["name"]]
    used |= {t["secretName"] for r in of_kind(things, "Ingress") for t in r["spec"].get("tls", [])}
    assert used <= secrets.keys() | given
    assert given <= used, "named in the values, and used nowhere"


@CASES
def test_variables_that_refer_to_others_come_after_them(case: str, release: str) -> None:
    for name, pod in pods(render(MATRIX[case], release)):
        for container in containers(pod):
            known: set[str] = set()
            for variable in container.get("env", []):
                for other in re.findall(r"\$\(([A-Z_]+)\)", variable.get("value", "")):
                    assert other in known, f"{name}: {variable['name']}"
                known.add(variable["name"])
            assert len(known) == len(container.get("env", [])), f"{name}: a variable twice"


@CASES
def test_names_are_dns_labels_that_fit(case: str, release: str) -> None:
    things = render(MATRIX[case], release)
    for thing in things:
        name = thing["metadata"]["name"]
        assert re.fullmatch(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", name), name
        for key, value in thing["metadata"]["labels"].items():
            assert len(key.rsplit("/", 1)[-1]) <= 63
            assert re.fullmatch(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?", value), (name, key, value)
    for thing in of_kind(things, "StatefulSet"):
        assert len(thing["metadata"]["name"]) <= 52  # with its hash it is the value of a label


@CASES
def test_images_are_named_to_the_version(case: str, release: str) -> None:
    for _, pod in pods(render(MATRIX[case], release)):
        for container in containers(pod):
            tag = container["image"].rsplit("/", 1)[-1].partition(":")[2]
            assert tag
            assert tag != "latest"
            if case == "airgapped":
                assert container["image"].startswith("registry.internal.example:5000/")


def test_an_image_has_registry_tag_and_digest() -> None:
    digest = f"sha256:{'0' * 64}"

    def image(values: Object) -> str:
        return str(named(render(values), "Deployment", "gateway")["spec"]["template"]["spec"]["containers"][0]["image"])

    def gateway(**own: str) -> Object:
        return {"services": {"gateway": {"image": own}}}

    assert image({}) == "quelea-gateway:0.1.0"
    assert image({"image": {"registry": "r.example", "tag": "2"}}) == "r.example/quelea-gateway:2"
    own = merged({"image": {"registry": "r.example"}}, gateway(registry="s.example:5000/x", repository="door", tag="3"))
    assert image(own) == "s.example:5000/x/door:3"
    assert image(gateway(digest=digest, tag="3")) == f"quelea-gateway@{digest}"
    assert image(merged(own, {"image": {"mirror": "m.example"}})) == "m.example/door:3"


@CASES
def test_a_statefulset_has_its_headless_service(case: str, release: str) -> None:
    things = render(MATRIX[case], release)
    for thing in of_kind(things, "StatefulSet"):
        (service,) = [t for t in of_kind(things, "Service") if t["metadata"]["name"] == thing["spec"]["serviceName"]]
        assert service["spec"]["clusterIP"] == "None"


@CASES
def test_scaling_is_of_something_that_is_there_and_leaves_replicas_alone(case: str, release: str) -> None:
    things = render(MATRIX[case], release)
    scaled = {}
    for scaler in of_kind(things, "HorizontalPodAutoscaler", "ScaledObject"):
        target = scaler["spec"]["scaleTargetRef"]
        scaled[target["kind"], target["name"]] = scaler
    for thing in workloads(things):
        assert ((thing["kind"], thing["metadata"]["name"]) in scaled) != ("replicas" in thing["spec"])
    assert len(scaled) <= len(workloads(things))
    if case == "keda":
        assert named(things, "ScaledObject", "worker")["spec"]["minReplicaCount"] == 0


def test_a_seventh_service_costs_ten_lines() -> None:
    readme = (CHART / "README.md").read_text(encoding="utf-8")
    import yaml

    (example,) = [t for t in re.findall(r"```yaml\n(.*?)```", readme, re.DOTALL) if "rates" in t]
    entry = example.partition("rates:\n")[2].partition("networkPolicy")[0]
    assert len(entry.splitlines()) <= 10
    things = render(yaml.safe_load(example))
    own = {t["kind"] for t in things if component(t) == "rates"}
    assert own == {"Deployment", "Service", "ServiceAccount", "PodDisruptionBudget", "NetworkPolicy"}
    pod = named(things, "Deployment", "rates")["spec"]["template"]["spec"]
    assert {"name": "QUELEA_RATES_LISTEN", "value": "0.0.0.0:7410"} in pod["containers"][0]["env"]
    policy = named(things, "NetworkPolicy", "retriever")["spec"]["ingress"]
    assert "rates" in str(policy)


def test_a_list_or_map_of_the_defaults_is_not_shared_between_services() -> None:
    before = copy.deepcopy(render({}))
    one = merged({"services": {"gateway": {"autoscaling": {"engine": "hpa"}, "podAnnotations": {"x": "y"}}}})
    things = render(one)
    assert len(of_kind(things, "HorizontalPodAutoscaler")) == 1
    assert of_kind(before, "HorizontalPodAutoscaler") == []
    assert [component(t) for t in workloads(things) if "x" in t["spec"]["template"]["metadata"]["annotations"]] == [
        "gateway"
    ]


def test_what_is_false_in_a_values_file_is_false() -> None:
    """Sprig's merge takes false and 0 for unsaid; the chart's own does not."""
    off = {"services": {"gateway": {"preStopSeconds": 0, "headless": True}, "beat": {"enabled": False}}}
    things = render(merged(off, {"serviceDefaults": {"enabled": True, "preStopSeconds": 9}}))
    assert "lifecycle" not in named(things, "Deployment", "gateway")["spec"]["template"]["spec"]["containers"][0]
    assert not [t for t in things if component(t) == "beat"]


def test_what_the_defaults_turn_off_is_off_for_others_too() -> None:
    off = merged(MATRIX["outside"], {"serviceDefaults": {"enabled": False}, "services": {"gateway": {"enabled": True}}})
    things = render(off)
    assert [component(t) for t in workloads(things)] == ["gateway"]
    assert "GATEWAY_RETRIEVER" not in str(named(things, "Deployment", "gateway")), "the address of what is not there"
