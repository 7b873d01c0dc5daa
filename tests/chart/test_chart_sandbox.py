"""Where code runs in pods: what the chart lets into their namespace, and that the sandbox's own pods are let in."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable
from typing import Any

import pytest
from quelea_sandbox.adapters.kubernetes_options import MARKET, OWNER, pod_of
from quelea_sandbox.core.model import Limits, Shape
from quelea_sandbox.settings import SandboxSettings
from support.cel import evaluated, type_errors
from support.chart_render import MATRIX, Object, merged, named, of_kind, render
from support.fake_admission import defaulted, over_limits, problems_of
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


@functools.cache
def settings_of(case: str) -> SandboxSettings:
    """The service's settings as its container has them."""
    (container,) = [
        one
        for one in named(render(CASES[case]), "StatefulSet", "sandbox")["spec"]["template"]["spec"]["containers"]
        if one["name"] == "sandbox"
    ]
    with pytest.MonkeyPatch.context() as patch:
        for variable in container["env"]:
            if variable["name"].startswith("QUELEA_SANDBOX_"):
                patch.setenv(variable["name"], variable["value"])
        return SandboxSettings()


def policy_of(case: str) -> list[Object]:
    """The rules of the admission policy."""
    (policy,) = of_kind(render(CASES[case]), "ValidatingAdmissionPolicy")
    assert policy["spec"]["failurePolicy"] == "Fail"
    rules: list[Object] = policy["spec"]["validations"]
    return rules


def limit_range_of(case: str) -> Object:
    (found,) = of_kind(render(CASES[case]), "LimitRange")
    return found


def request(case: str, pod: Object, **changed: Any) -> Object:
    """What the policy is asked about a pod that is sent: with all that the API server makes of it first."""
    asked = {"operation": "CREATE", "userInfo": {"username": "system:serviceaccount:finance:demo-quelea-sandbox"}}
    old = changed.pop("old", None)
    return {
        "oldObject": defaulted(old, limit_range_of(case)) if old else None,
        "object": defaulted(pod, limit_range_of(case)),
        "request": {**asked, **changed},
    }


def denied(case: str, *requests: Object) -> list[list[str]]:
    """What the admission policy says against each, by evaluating its expressions. An error of one denies too."""
    rules = policy_of(case)
    truths = evaluated([rule["expression"] for rule in rules], list(requests))
    return [[rule["message"] for rule, true in zip(rules, one, strict=True) if not true] for one in truths]


@pytest.mark.parametrize("case", CASES)
def test_the_sandboxes_own_pods_are_let_in(case: str) -> None:
    settings = settings_of(case)
    assert settings.backend == "kubernetes" and settings.door
    node = {"operation": "UPDATE", "userInfo": {"username": "system:node:node"}}
    requests = []
    for market in (True, False):
        pod = pod_of(settings, Shape(768 << 20, 1.0, 64, market=market), "quelea-sandbox-1")
        assert problems_of(pod, settings.namespace) == []
        assert over_limits(pod, limit_range_of(case)) == []
        # As the scheduler, a label of nobody's choice apart, changes it later.
        bound = copy.deepcopy(pod)
        bound["spec"]["nodeName"] = "node"
        requests += [request(case, pod), request(case, bound, old=pod, **node)]
    assert denied(case, *requests) == [[]] * 4
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


def _limited(**limits: str) -> Callable[[Object], None]:
    return lambda pod: pod["spec"]["containers"][0]["resources"]["limits"].update(limits)


def _spec(**fields: Any) -> Callable[[Object], None]:
    return lambda pod: pod["spec"].update(fields)


def _of_pod(**fields: Any) -> Callable[[Object], None]:
    return lambda pod: pod["spec"]["securityContext"].update(fields)


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
    "the processes of its containers together": (_spec(shareProcessNamespace=True), "nothing of the node"),
    "names of the node": (_spec(hostAliases=[{"ip": "192.0.2.1", "hostnames": ["x"]}]), "nothing of the node"),
    "a node of its choice": (_spec(nodeName="control-plane"), "nothing of the node"),
    "the node's files": (_spec(volumes=_HOST_PATH), "volumes in memory"),
    "a Secret": (_spec(volumes=[{"name": "s", "secret": {"secretName": "s"}}]), "volumes in memory"),
    "a folder on disk": (_spec(volumes=[{"name": "d", "emptyDir": {}}]), "volumes in memory"),
    "a folder of any size": (_spec(volumes=[{"name": "d", "emptyDir": {"medium": "Memory"}}]), "volumes in memory"),
    "no limits": (_without("containers", 0, "resources"), "limits of memory"),
    "no limits, only requests": (_without("containers", 0, "resources", "limits"), "limits of memory"),
    "no processor limit": (_without("containers", 0, "resources", "limits", "cpu"), "limits of memory"),
    "no storage limit": (_without("containers", 0, "resources", "limits", "ephemeral-storage"), "limits of memory"),
    "no memory limit": (_without("containers", 0, "resources", "limits", "memory"), "limits of memory"),
    "a limit of nothing": (_limited(memory="0"), "limits of memory"),
    "a processor limit of nothing": (_limited(cpu="0"), "limits of memory"),
    "a storage limit of nothing": (_limited(**{"ephemeral-storage": "0"}), "limits of memory"),
    "a probe by the node": (_container(livenessProbe=_PROBE), "probes or hooks"),
    "a hook": (_container(lifecycle={"preStop": {"exec": {"command": ["x"]}}}), "probes or hooks"),
    "a variable from a Secret": (_container(env=_SECRET), "probes or hooks"),
    "all of a Secret": (_container(envFrom=[{"secretRef": {"name": "s"}}]), "probes or hooks"),
    "again and again": (_spec(restartPolicy="Always"), "runs once"),
    "without an end": (_without("activeDeadlineSeconds"), "runs once"),
    "a late end": (_spec(activeDeadlineSeconds=10**6), "runs once"),
    "names": (_spec(dnsPolicy="ClusterFirst"), "runs once"),
    "another priority": (_spec(priorityClassName="system-node-critical"), "priority class"),
    "other nodes": (_spec(nodeSelector={"node-role.kubernetes.io/control-plane": ""}), "nodeSelector"),
    "every taint": (_spec(tolerations=[{"operator": "Exists"}]), "tolerations"),
    "a taint": (_spec(tolerations=[{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}]), "tolerations"),
    "a broken node, for ever": (
        _spec(tolerations=[{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}]),
        "tolerations",
    ),
    "affinity": (_spec(affinity={"nodeAffinity": {}}), "no affinity"),
    "a spread": (
        _spec(topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "x", "whenUnsatisfiable": "DoNotSchedule"}]),
        "no affinity",
    ),
    "a gate before the scheduler": (_spec(schedulingGates=[{"name": "x"}]), "no affinity"),
    "a gate before it is ready": (_spec(readinessGates=[{"conditionType": "x"}]), "no affinity"),
    "another scheduler": (_spec(schedulerName="mine"), "no affinity"),
    "a device": (_spec(resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}]), "no devices"),
    "a device of the container": (
        lambda pod: pod["spec"]["containers"][0]["resources"].update(claims=[{"name": "gpu"}]),
        "no devices",
    ),
    "limits of the pod alone": (_spec(resources={"limits": {"memory": "64Gi"}}), "limits of memory"),
    "a sysctl": (_of_pod(sysctls=[{"name": "kernel.shm_rmid_forced", "value": "0"}]), "no sysctls"),
    "more groups": (_of_pod(supplementalGroups=[0]), "no sysctls"),
    "a group of volumes": (_of_pod(fsGroup=0), "no sysctls"),
    "root's group": (_of_pod(runAsGroup=0), "no sysctls"),
    "no group": (_without("securityContext", "runAsGroup"), "no sysctls"),
    "no word on the pod": (_without("securityContext"), "no sysctls"),
    "labels of SELinux": (_of_pod(seLinuxOptions={"type": "spc_t"}), "no sysctls"),
    "no AppArmor": (_of_pod(appArmorProfile={"type": "Unconfined"}), "no sysctls"),
    "root's group in the container": (_secured(runAsGroup=0), "of the container too"),
    "no group of the container": (_without("containers", 0, "securityContext", "runAsGroup"), "of the container too"),
    "labels of SELinux in the container": (_secured(seLinuxOptions={"type": "spc_t"}), "of the container too"),
    "no AppArmor in the container": (_secured(appArmorProfile={"type": "Unconfined"}), "of the container too"),
    "the node's /proc": (_secured(procMount="Unmasked"), "of the container too"),
    "a second container": (lambda pod: pod["spec"]["containers"].append({"name": "x", "image": "x"}), "one container"),
    "a container before": (_spec(initContainers=[{"name": "x", "image": "x"}]), "one container"),
    "a container to debug": (_spec(ephemeralContainers=[{"name": "x", "image": "x"}]), "one container"),
    "another owner": (lambda pod: pod["metadata"]["labels"].update({OWNER: "x"}), "labels"),
    "no label": (lambda pod: pod["metadata"].pop("labels"), "labels"),
    "another word on the door": (lambda pod: pod["metadata"]["labels"].update({MARKET: "yes"}), "labels"),
}


@functools.cache
def _verdicts(case: str) -> dict[str, list[str]]:
    """What is said against every bad pod, of one process of the evaluator."""
    spoilt = {}
    for what, (spoil, _) in BAD.items():
        pod = pod_of(settings_of(case), SHAPE, "quelea-sandbox-1")
        spoil(pod)
        spoilt[what] = request(case, pod)
    return dict(zip(spoilt, denied(case, *spoilt.values()), strict=True))


@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("case", CASES)
def test_other_pods_are_refused(case: str, what: str) -> None:
    found = _verdicts(case)[what]
    assert any(BAD[what][1] in one for one in found), found


@pytest.mark.parametrize("case", CASES)
def test_a_pod_without_limits_gets_none_from_the_namespace_and_is_refused(case: str) -> None:
    """A LimitRange's maximum of containers would become the limit of one that names none."""
    pod = pod_of(settings_of(case), SHAPE, "quelea-sandbox-1")
    del pod["spec"]["containers"][0]["resources"]
    seen = request(case, pod)["object"]
    assert "limits" not in seen["spec"]["containers"][0]["resources"]
    assert len(over_limits(pod, limit_range_of(case))) == 3


def test_others_and_changes_are_refused() -> None:
    case = "all that can be said"
    pod = pod_of(settings_of(case), SHAPE, "quelea-sandbox-1")
    changed = copy.deepcopy(pod)
    changed["metadata"]["labels"][MARKET] = "refused"
    others = ("admin", "system:serviceaccount:finance:demo-quelea-gateway")
    *by_others, by_change = denied(
        case,
        *(request(case, pod, userInfo={"username": who}) for who in others),
        request(case, changed, old=pod, operation="UPDATE"),
    )
    assert by_others == [["only the sandbox makes pods here"]] * 2
    assert any("do not change" in one for one in by_change)


OTHERWISE: dict[str, tuple[Callable[[Object], None], str]] = {
    "the runtime class": (lambda pod: pod["spec"].pop("runtimeClassName"), "runtime class"),
    "another runtime class": (lambda pod: pod["spec"].update(runtimeClassName="runc"), "runtime class"),
    "the user namespace": (lambda pod: pod["spec"].pop("hostUsers"), "user namespace"),
    "the priority class": (lambda pod: pod["spec"].pop("priorityClassName"), "priority class"),
    "the nodes": (lambda pod: pod["spec"].pop("nodeSelector"), "nodeSelector"),
    "one node more": (lambda pod: pod["spec"]["nodeSelector"].update(zone="a"), "nodeSelector"),
    "another value of a toleration": (lambda pod: pod["spec"]["tolerations"][0].update(effect=""), "tolerations"),
    "the seccomp profile": (
        lambda pod: pod["spec"]["containers"][0]["securityContext"].update(seccompProfile={"type": "RuntimeDefault"}),
        "seccomp",
    ),
}


def test_what_the_values_name_is_compared() -> None:
    case, requests = "all that can be said", []
    for spoil, _ in OTHERWISE.values():
        pod = pod_of(settings_of(case), SHAPE, "quelea-sandbox-1")
        spoil(pod)
        requests.append(request(case, pod))
    for (what, (_, says)), found in zip(OTHERWISE.items(), denied(case, *requests), strict=True):
        assert any(says in one for one in found), (what, found)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("version", ["1.30", "1.34", "1.36"])
def test_the_api_server_has_no_type_warnings(case: str, version: str) -> None:
    """A field that a version has not is an error of the policy's types there, though it would be evaluated."""
    newer = "&& !has(object.spec.resources)"  # rendered for 1.32 and later only
    expressions = [rule["expression"] for rule in policy_of(case)]
    assert [one for one in expressions if newer in one]
    if version == "1.30":
        expressions = [one.replace(newer, "") for one in expressions]
    assert type_errors(expressions, version) == []


def test_type_warnings_are_seen() -> None:
    bad = ["has(object.spec.resources)", "object.spec.tolerations.all(t, t == {'key': 'a'})", "object.spec.nodeName"]
    undefined, no_overload, no_truth = type_errors(bad, "1.30")
    assert "undefined field 'resources'" in undefined and "no matching overload" in no_overload
    assert "no truth" in no_truth
    assert type_errors(bad[:1], "1.36") == []


@pytest.mark.parametrize(
    ("tolerations", "taken"),
    [
        ([], False),
        ([{"operator": "Exists"}], True),
        ([{"key": "sandbox", "value": "yes", "effect": "NoSchedule"}], False),
        ([{"key": "it's", "operator": "Exists", "tolerationSeconds": 5}], False),
    ],
)
def test_a_toleration_is_compared_whole(tolerations: list[Object], taken: bool) -> None:
    things = render(merged(MATRIX["pods"], {"sandboxPods": {"tolerations": tolerations}}))
    (policy,) = of_kind(things, "ValidatingAdmissionPolicy")
    (rule,) = [one for one in policy["spec"]["validations"] if "tolerations of" in one["message"]]
    whole = {"operator": "Exists"}

    def asked(own: list[Object]) -> Object:
        return {"object": {"spec": {"tolerations": own}}}

    (named_ones,), (none,), (everything,) = evaluated(
        [rule["expression"]], [asked(tolerations), {"object": {"spec": {}}}, asked([whole])]
    )
    assert (named_ones, none, everything) == (True, True, taken)


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


def test_the_namespace_is_restricted_and_bounded() -> None:
    things = render(MATRIX["pods"])
    (namespace,) = of_kind(things, "Namespace")
    assert namespace["metadata"]["name"] == NAMESPACE
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    assert not of_kind(render(CASES["all that can be said"]), "Namespace")
    settings = settings_of("as it is")
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
