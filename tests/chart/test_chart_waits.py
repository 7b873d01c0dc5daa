"""What `helm install --wait` waits for comes; what the API server merges by a key has each key once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import kubernetes_validate
import pytest
from support.chart_render import MATRIX, Object, containers, merged, named, of_kind, pods, render, workloads

JOBS: Object = {"jobs": {"backup": {"enabled": True}}}
ONLY_RECORDS: Object = {"jobs": {"backup": {"enabled": True, "parts": ["search"]}}}
RESTORE: Object = {"jobs": {"restore": {"enabled": True}}}
CASES: dict[str, Object] = {
    **MATRIX,
    "backups": merged(MATRIX["small"], JOBS),
    "backups, embedded": merged(MATRIX["embedded"], ONLY_RECORDS),
    "restore": merged(MATRIX["small"], RESTORE),
    "backups outside": merged(MATRIX["outside"], {"jobs": {"backup": {"enabled": True, "url": "s3://b/p"}}}),
}
EVERY = pytest.mark.parametrize("case", CASES)
HOOK = "helm.sh/hook"
# Lists that the API server merges by these keys: server-side apply (Helm 4) refuses one that has a key twice.
MERGED_BY = {
    "env": ("name",),
    "volumeMounts": ("mountPath",),
    "volumes": ("name",),
    "containers": ("name",),
    "initContainers": ("name",),
    "imagePullSecrets": ("name",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
}


def _hook(thing: Object) -> str:
    return str(thing["metadata"].get("annotations", {}).get(HOOK, ""))


def _started_by_install(things: list[Object]) -> list[Object]:
    """Specs of the pods that are there without any night, test or upgrade having come."""
    jobs = [t for t in of_kind(things, "Job") if not _hook(t)]
    return [t["spec"]["template"]["spec"] for t in (*workloads(things), *jobs)]


@EVERY
def test_every_claim_has_a_pod_that_binds_it(case: str) -> None:
    """Where a claim waits for its first pod, one that has none is pending for ever, and so is `helm install --wait`."""
    things = render(CASES[case])
    mounted = {
        volume["persistentVolumeClaim"]["claimName"]
        for pod in _started_by_install(things)
        for volume in pod["volumes"]
        if "persistentVolumeClaim" in volume
    }
    assert {t["metadata"]["name"] for t in of_kind(things, "PersistentVolumeClaim")} <= mounted


@EVERY
def test_no_hook_needs_what_is_not_there_yet(case: str) -> None:
    """Before an installation there is no Secret and no account of the chart; after it `--wait` is over, or never."""
    for thing in render(CASES[case]):
        assert not {"pre-install", "post-install"} & set(_hook(thing).split(",")), thing["metadata"]["name"]
        assert not _hook(thing) or thing["kind"] in ("Job", "Pod"), "what a hook makes, no roll-back takes away"


def test_the_job_that_binds_the_backups_claim_is_as_small_as_it_can_be() -> None:
    things = render(CASES["backups"])
    (job,) = [t for t in of_kind(things, "Job") if "-bind-" in t["metadata"]["name"]]
    for version in ("1.30", "1.34", "1.36"):
        assert kubernetes_validate.validate(job, version, strict=True) == version
    assert not _hook(job)
    assert "ttlSecondsAfterFinished" not in job["spec"], "removed, it would be made anew by the next upgrade"
    pod = job["spec"]["template"]["spec"]
    (container,) = containers(pod)
    assert (pod["automountServiceAccountToken"], pod["restartPolicy"]) == (False, "Never")
    assert pod["securityContext"]["runAsNonRoot"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert pod["volumes"] == [{"name": "backups", "persistentVolumeClaim": {"claimName": "demo-quelea-backups"}}]
    assert "env" not in container
    assert "envFrom" not in container


def test_a_job_that_cannot_be_changed_has_another_name_when_it_would_be() -> None:
    def bind(*values: Object) -> Any:
        (job,) = [t for t in of_kind(render(merged(*values)), "Job") if "-bind-" in t["metadata"]["name"]]
        return job["metadata"]["name"], job["spec"]

    first = CASES["backups"]
    assert bind(first) == bind(first, {"services": {"gateway": {"replicas": 5}}, "logLevel": "debug"})
    other = bind(first, {"image": {"tag": "9.9.9"}})
    assert other[0] != bind(first)[0]
    assert other[1] != bind(first)[1]


def _lists(thing: Any) -> Iterator[tuple[str, list[Any]]]:
    if isinstance(thing, dict):
        for key, value in thing.items():
            if isinstance(value, list):
                yield key, value
            yield from _lists(value)
    elif isinstance(thing, list):
        for one in thing:
            yield from _lists(one)


@EVERY
def test_lists_that_are_merged_by_a_key_have_each_key_once(case: str) -> None:
    things = render(CASES[case])
    for thing in things:
        for field, entries in _lists(thing):
            keys = MERGED_BY.get(field)
            if not keys or not entries or not isinstance(entries[0], dict):
                continue
            counted = Counter(tuple(one.get(key) for key in keys) for one in entries)
            assert max(counted.values()) == 1, f"{thing['kind']} {thing['metadata']['name']}: {field} {counted}"
    for name, pod in pods(things):
        ports = Counter((p["containerPort"], p["protocol"]) for c in pod["containers"] for p in c.get("ports", []))
        assert not ports or max(ports.values()) == 1, name
    for service in of_kind(things, "Service"):
        assert max(Counter(p["port"] for p in service["spec"]["ports"]).values()) == 1


def test_blobs_without_anybody_who_reads_them_are_not_claimed() -> None:
    off = {name: {"enabled": False} for name in ("search", "worker", "beat")}
    assert not of_kind(render({"services": off}), "PersistentVolumeClaim")
    assert named(render({}), "PersistentVolumeClaim", "blobs")
