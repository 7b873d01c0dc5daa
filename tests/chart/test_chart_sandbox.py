"""Where code runs in pods: what the chart lets into their namespace, and that the sandbox's own pods are let in."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from quelea_sandbox.adapters.kubernetes_options import MARKET, OWNER, pod_of
from quelea_sandbox.core.model import Limits, Shape
from quelea_sandbox.settings import SandboxSettings
from support.cel import evaluated
from support.chart_render import MATRIX, Object, merged, named, of_kind, render
from support.fake_admission import problems_of
from support.fake_cluster import SCOPED
from support.fake_kubelet import quantity

NAMESPACE = "finance-demo-quelea-runs"
CASES = {
    "as it is": MATRIX["pods"],
    "all that can be said": merged(
        MATRIX["pods"],
        {
            "image": {"registry": "registry.example", "tag": "1.2.3", "pullPolicy": "Always"},
            "sandboxPods": {
                "namespace": "runs",
                "createNamespace": False,
                "runtimeClassName": "gvisor",
                "seccompProfile": "quelea/sandbox.json",
                "userNamespaces": True,
                "nodeSelector": {"pool": "sandbox"},
                "tolerations": [{"key": "sandbox", "operator": "Exists", "effect": "NoSchedule"}],
                "priorityClassName": "low",
                "pullSecrets": ["pull"],
                "longestSeconds": 7200,
                "apiServer": {"cidrs": ["192.0.2.1/32"], "ports": [6443]},
            },
        },
    ),
}
SHAPE = Shape(768 << 20, 1.0, 64, market=True)


def settings_of(things: list[Object], monkeypatch: pytest.MonkeyPatch) -> SandboxSettings:
    """The service's settings as its container has them."""
    (container,) = [
        one
        for one in named(things, "StatefulSet", "sandbox")["spec"]["template"]["spec"]["containers"]
        if one["name"] == "sandbox"
    ]
    for variable in container["env"]:
        if variable["name"].startswith("QUELEA_SANDBOX_"):
            monkeypatch.setenv(variable["name"], variable["value"])
    return SandboxSettings()


def denied(things: list[Object], pod: Object, **request: Any) -> list[str]:
    """What the admission policy says against a pod, by evaluating its expressions. An error of one denies too."""
    (policy,) = of_kind(things, "ValidatingAdmissionPolicy")
    assert policy["spec"]["failurePolicy"] == "Fail"
    asked = {"operation": "CREATE", "userInfo": {"username": "system:serviceaccount:finance:demo-quelea-sandbox"}}
    data = {"oldObject": request.pop("old", None), "object": pod, "request": {**asked, **request}}
    rules = policy["spec"]["validations"]
    truths = evaluated([rule["expression"] for rule in rules], data)
    return [rule["message"] for rule, true in zip(rules, truths, strict=True) if not true]


@pytest.mark.parametrize("case", CASES)
def test_the_sandboxes_own_pods_are_let_in(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    things = render(CASES[case])
    settings = settings_of(things, monkeypatch)
    assert settings.backend == "kubernetes" and settings.door
    for market in (True, False):
        pod = pod_of(settings, Shape(768 << 20, 1.0, 64, market=market), "quelea-sandbox-1")
        assert problems_of(pod, settings.namespace) == []
        assert denied(things, pod) == []
        # As the scheduler, a label of nobody's choice apart, changes it later.
        bound = copy.deepcopy(pod)
        bound["spec"]["nodeName"] = "node"
        node = {"operation": "UPDATE", "userInfo": {"username": "system:node:node"}}
        assert denied(things, bound, old=pod, **node) == []
    spec = pod["spec"]
    if case != "as it is":
        assert (spec["runtimeClassName"], spec["priorityClassName"]) == ("gvisor", "low")
        assert spec["nodeSelector"] == {"pool": "sandbox"} and spec["tolerations"][0]["key"] == "sandbox"
        assert spec["imagePullSecrets"] == [{"name": "pull"}] and spec["hostUsers"] is False
        assert spec["containers"][0]["image"] == "registry.example/quelea-runner:1.2.3"
        assert spec["containers"][0]["securityContext"]["seccompProfile"]["localhostProfile"] == "quelea/sandbox.json"
        assert spec["activeDeadlineSeconds"] == 7200


def _container(**fields: Any) -> Callable[[Object], None]:
    return lambda pod: pod["spec"]["containers"][0].update(fields)


def _secured(**fields: Any) -> Callable[[Object], None]:
    return lambda pod: pod["spec"]["containers"][0]["securityContext"].update(fields)


def _spec(**fields: Any) -> Callable[[Object], None]:
    return lambda pod: pod["spec"].update(fields)


def _without(*path: Any) -> Callable[[Object], None]:
    def remove(pod: Object) -> None:
        at: Any = pod["spec"]
        for key in path[:-1]:
            at = at[key]
        del at[path[-1]]

    return remove


_HOST_PATH = [{"name": "root", "hostPath": {"path": "/"}}]
_PROBE = {"httpGet": {"path": "/", "port": 80, "host": "169.254.169.254"}}
_SECRET = [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]
BAD: dict[str, tuple[Callable[[Object], None], str]] = {
    "another image": (_container(image="busybox"), "runner image"),
    "privileged": (_secured(privileged=True), "without rights"),
    "more rights": (_secured(allowPrivilegeEscalation=True), "without rights"),
    "a capability": (_secured(capabilities={"drop": ["ALL"], "add": ["NET_RAW"]}), "without rights"),
    "capabilities kept": (_secured(capabilities={}), "without rights"),
    "root": (_secured(runAsUser=0), "without rights"),
    "no word on root": (_without("containers", 0, "securityContext", "runAsNonRoot"), "without rights"),
    "a writable root": (_secured(readOnlyRootFilesystem=False), "without rights"),
    "no security context": (_without("containers", 0, "securityContext"), "without rights"),
    "no seccomp": (_secured(seccompProfile={"type": "Unconfined"}), "seccomp"),
    "a token": (_spec(automountServiceAccountToken=True), "no token"),
    "no word on a token": (_without("automountServiceAccountToken"), "no token"),
    "another account": (_spec(serviceAccountName="admin"), "no token"),
    "the cluster's services": (_spec(enableServiceLinks=True), "no token"),
    "the node's network": (_spec(hostNetwork=True), "nothing of the node"),
    "the node's processes": (_spec(hostPID=True), "nothing of the node"),
    "the node's memory": (_spec(hostIPC=True), "nothing of the node"),
    "a node of its choice": (_spec(nodeName="control-plane"), "nothing of the node"),
    "the node's files": (_spec(volumes=_HOST_PATH), "volumes in memory"),
    "a Secret": (_spec(volumes=[{"name": "s", "secret": {"secretName": "s"}}]), "volumes in memory"),
    "a folder on disk": (_spec(volumes=[{"name": "d", "emptyDir": {}}]), "volumes in memory"),
    "a folder of any size": (_spec(volumes=[{"name": "d", "emptyDir": {"medium": "Memory"}}]), "volumes in memory"),
    "no limits": (_without("containers", 0, "resources"), "limits of memory"),
    "no memory limit": (_without("containers", 0, "resources", "limits", "memory"), "limits of memory"),
    "a probe by the node": (_container(livenessProbe=_PROBE), "probes or hooks"),
    "a hook": (_container(lifecycle={"preStop": {"exec": {"command": ["x"]}}}), "probes or hooks"),
    "a variable from a Secret": (_container(env=_SECRET), "probes or hooks"),
    "all of a Secret": (_container(envFrom=[{"secretRef": {"name": "s"}}]), "probes or hooks"),
    "again and again": (_spec(restartPolicy="Always"), "runs once"),
    "without an end": (_without("activeDeadlineSeconds"), "runs once"),
    "a late end": (_spec(activeDeadlineSeconds=10**6), "runs once"),
    "names": (_spec(dnsPolicy="ClusterFirst"), "runs once"),
    "a second container": (lambda pod: pod["spec"]["containers"].append({"name": "x", "image": "x"}), "one container"),
    "a container before": (_spec(initContainers=[{"name": "x", "image": "x"}]), "one container"),
    "a container to debug": (_spec(ephemeralContainers=[{"name": "x", "image": "x"}]), "one container"),
    "another owner": (lambda pod: pod["metadata"]["labels"].update({OWNER: "x"}), "labels"),
    "no label": (lambda pod: pod["metadata"].pop("labels"), "labels"),
    "another word on the door": (lambda pod: pod["metadata"]["labels"].update({MARKET: "yes"}), "labels"),
}


@pytest.mark.parametrize("what", BAD)
def test_other_pods_are_refused(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    things = render(CASES["as it is"])
    pod = pod_of(settings_of(things, monkeypatch), SHAPE, "quelea-sandbox-1")
    spoil, says = BAD[what]
    spoil(pod)
    found = denied(things, pod)
    assert any(says in one for one in found), found


def test_others_and_changes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    things = render(CASES["all that can be said"])
    pod = pod_of(settings_of(things, monkeypatch), SHAPE, "quelea-sandbox-1")
    for who in ("admin", "system:serviceaccount:finance:demo-quelea-gateway"):
        assert denied(things, pod, userInfo={"username": who}) == ["only the sandbox makes pods here"]
    changed = copy.deepcopy(pod)
    changed["metadata"]["labels"][MARKET] = "refused"
    assert any("do not change" in one for one in denied(things, changed, old=pod, operation="UPDATE"))
    for key, says in (("runtimeClassName", "runtime class"), ("hostUsers", "user namespace")):
        plain = copy.deepcopy(pod)
        del plain["spec"][key]
        assert any(says in one for one in denied(things, plain)), key
    plain = copy.deepcopy(pod)
    plain["spec"]["containers"][0]["securityContext"]["seccompProfile"] = {"type": "RuntimeDefault"}
    assert any("seccomp" in one for one in denied(things, plain))


def test_the_policy_is_bound_to_that_namespace_and_denies() -> None:
    things = render(MATRIX["pods"])
    (policy,), (binding,) = (of_kind(things, f"ValidatingAdmissionPolicy{end}") for end in ("", "Binding"))
    assert binding["spec"] == {"policyName": policy["metadata"]["name"], "validationActions": ["Deny"]}
    constraints = policy["spec"]["matchConstraints"]
    assert constraints["namespaceSelector"] == {"matchLabels": {"kubernetes.io/metadata.name": NAMESPACE}}
    (rule,) = constraints["resourceRules"]
    assert rule["operations"] == ["CREATE", "UPDATE"] and rule["resources"] == ["pods", "pods/ephemeralcontainers"]
    assert not of_kind(
        render(merged(MATRIX["pods"], {"sandboxPods": {"admissionPolicy": False}})), "ValidatingAdmissionPolicy"
    )


def test_the_sandbox_alone_has_a_token_and_it_is_good_for_its_pods_alone() -> None:
    things = render(MATRIX["pods"])
    (role,), (binding,) = of_kind(things, "Role"), of_kind(things, "RoleBinding")
    assert role["metadata"]["namespace"] == binding["metadata"]["namespace"] == NAMESPACE
    assert {f"{verb} {one}" for rule in role["rules"] for one in rule["resources"] for verb in rule["verbs"]} == SCOPED
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "demo-quelea-sandbox", "namespace": "finance"}]
    assert not of_kind(things, "ClusterRole", "ClusterRoleBinding")
    with_token = [
        (thing["metadata"]["name"], one["name"])
        for thing in of_kind(things, "Deployment", "StatefulSet")
        for one in thing["spec"]["template"]["spec"]["containers"]
        for mount in one["volumeMounts"]
        if mount["mountPath"] == "/var/run/secrets/kubernetes.io/serviceaccount"
    ]
    assert with_token == [("demo-quelea-sandbox", "sandbox")]
    for thing in of_kind(things, "Deployment", "StatefulSet"):
        spec = thing["spec"]["template"]["spec"]
        assert spec["automountServiceAccountToken"] is False
        assert spec["securityContext"]["runAsNonRoot"] is True, "everything fits the restricted standard"


def test_the_namespace_is_restricted_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    things = render(MATRIX["pods"])
    (namespace,) = of_kind(things, "Namespace")
    assert namespace["metadata"]["name"] == NAMESPACE
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    assert not of_kind(render(CASES["all that can be said"]), "Namespace")
    settings = settings_of(things, monkeypatch)
    (quota,), (limits,) = of_kind(things, "ResourceQuota"), of_kind(things, "LimitRange")
    hard, most = quota["spec"]["hard"], limits["spec"]["limits"][0]["max"]
    assert int(hard["pods"]) > settings.max_containers
    assert quantity(hard["limits.memory"]) >= settings.max_containers * settings.memory_bytes
    assert quantity(hard["limits.cpu"]) >= settings.max_containers * settings.cpus
    assert quantity(hard["limits.ephemeral-storage"]) >= settings.max_containers * settings.pod_storage_bytes
    # What the service lets a request ask for, the namespace lets a pod have.
    most_asked: Limits = settings.rules.maximum
    biggest = pod_of(settings, Shape(most_asked.memory_bytes, most_asked.cpus, most_asked.pids, market=False), "x")
    resources = biggest["spec"]["containers"][0]["resources"]
    for name, value in resources["limits"].items():
        assert quantity(value) <= quantity(most[name]), name
    assert resources["limits"]["memory"] == resources["requests"]["memory"], "maxLimitRequestRatio is 1"


def test_pods_reach_the_door_and_nothing_else() -> None:
    policies = [t for t in of_kind(render(MATRIX["pods"]), "NetworkPolicy") if "namespace" in t["metadata"]]
    closed, door = sorted((p["spec"] for p in policies), key=lambda spec: len(json.dumps(spec)))
    assert closed == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    assert door["podSelector"]["matchLabels"][MARKET] == "allowed" and "ingress" not in door
    ((to,),) = (rule["to"] for rule in door["egress"])
    assert to["namespaceSelector"] == {"matchLabels": {"kubernetes.io/metadata.name": "finance"}}
    assert door["egress"][0]["ports"] == [{"protocol": "TCP", "port": 7409}]
    without = render(merged(MATRIX["pods"], {"services": {"door": {"enabled": False}}}))
    assert len([t for t in of_kind(without, "NetworkPolicy") if "namespace" in t["metadata"]]) == 1
    api = named(render(CASES["all that can be said"]), "NetworkPolicy", "sandbox")["spec"]["egress"]
    assert {"to": [{"ipBlock": {"cidr": "192.0.2.1/32"}}], "ports": [{"protocol": "TCP", "port": 6443}]} in api


def test_with_docker_in_docker_there_is_none_of_this() -> None:
    things = render(MATRIX["sandbox"])
    kinds = {thing["kind"] for thing in things}
    assert not kinds & {"Namespace", "Role", "RoleBinding", "ResourceQuota", "ValidatingAdmissionPolicy"}
    assert "api-access" not in json.dumps(things)
