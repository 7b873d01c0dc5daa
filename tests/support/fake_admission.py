"""What an API server says against a pod: the schema of Kubernetes, and rules beside it that ours could break."""

from __future__ import annotations

import copy
import re

import kubernetes_validate
from support.fake_kubelet import Object, quantity

VERSION = "1.36"
RUNTIME_CLASSES = ("runc",)
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_LABEL = re.compile(r"[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?")


def problems_of(pod: Object, namespace: str) -> list[str]:
    """Why it is refused; empty when it is not."""
    try:
        kubernetes_validate.validate(pod, VERSION, strict=True)
    except kubernetes_validate.ValidationError as error:
        return [str(error)]
    metadata, spec = pod["metadata"], pod["spec"]
    problems = []
    if metadata["namespace"] != namespace:
        problems.append("namespace")
    problems += [f"name {name}" for name in (metadata["name"], spec["hostname"]) if not _NAME.fullmatch(name)]
    problems += [f"label {one}" for one in metadata["labels"].values() if not _LABEL.fullmatch(one)]
    if spec["dnsPolicy"] == "None" and not spec["dnsConfig"]["nameservers"]:
        problems.append("dnsConfig")
    for container in spec["containers"]:
        limits = container["resources"]["limits"]
        for resource, request in container["resources"]["requests"].items():
            if quantity(request) > quantity(limits[resource]):
                problems.append(f"request of {resource}")
        volumes = {one["name"] for one in spec["volumes"]}
        problems += sorted({one["name"] for one in container["volumeMounts"]} ^ volumes)
    return problems


_LEFT_OUT_WHEN_FALSE = ("hostNetwork", "hostPID", "hostIPC")


def defaulted(pod: Object, limit_range: Object | None = None) -> Object:
    """A pod as a validating policy sees it: after the API server's defaults, and what its own plugins add.

    Args:
        pod: As it was sent.
        limit_range: The one of its namespace: a maximum of containers becomes the limit of one that has none.
    """
    seen = copy.deepcopy(pod)
    spec = seen["spec"]
    for key in _LEFT_OUT_WHEN_FALSE:  # as they are stored
        if spec.get(key) is False:
            del spec[key]
    spec.setdefault("serviceAccountName", "default")
    spec.setdefault("serviceAccount", spec["serviceAccountName"])
    spec.setdefault("schedulerName", "default-scheduler")
    spec.setdefault("securityContext", {})
    spec.setdefault("priority", 0)
    spec.setdefault("preemptionPolicy", "PreemptLowerPriority")
    spec["tolerations"] = [*spec.get("tolerations", []), *(
        {"key": f"node.kubernetes.io/{what}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for what in ("not-ready", "unreachable")
    )]  # fmt: skip
    for container in spec["containers"]:
        container.setdefault("terminationMessagePath", "/dev/termination-log")
        container.setdefault("terminationMessagePolicy", "File")
        container.setdefault("resources", {})
        for rule in (limit_range or {"spec": {"limits": []}})["spec"]["limits"]:
            if rule["type"] == "Container":
                given = rule.get("max", {}) | rule.get("default", {})
                container["resources"]["limits"] = given | container["resources"].get("limits", {})
    return seen


def over_limits(pod: Object, limit_range: Object) -> list[str]:
    """What a LimitRange has against a pod: more than the maximum, or no limit where there is one."""
    problems = []
    for rule in limit_range["spec"]["limits"]:
        for resource, most in rule.get("max", {}).items():
            for container in pod["spec"]["containers"]:
                limit = container.get("resources", {}).get("limits", {}).get(resource)
                if limit is None:
                    problems.append(f"maximum {resource} usage per {rule['type']} is {most}. No limit is specified")
                elif quantity(limit) > quantity(most):
                    problems.append(f"maximum {resource} usage per {rule['type']} is {most}, but limit is {limit}")
    return problems


class Refused(Exception):
    """Answered as a Status object."""

    def __init__(self, code: int, reason: str, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.code, self.reason, self.headers = code, reason, headers or {}


def kubeconfig_of(url: str, token: str) -> Object:
    """A file that leads to an API server."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": url}}],
        "users": [{"name": "u", "user": {"token": token}}],
    }
