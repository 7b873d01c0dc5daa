"""The README's example of files in a bucket: who is told of it, has its key, and may go there."""

from __future__ import annotations

import re

import yaml
from support.chart_render import CHART, component, main_containers, merged, named, of_kind, render, variables

RULE = {"to": [{"ipBlock": {"cidr": "10.0.9.0/24"}}], "ports": [{"port": 9000}]}
USERS = {"search", "worker", "gateway"}
JOBS = {"jobs": {"backup": {"enabled": True, "url": "s3://bucket/backups"}}}
SANDBOX = {"services": {name: {"enabled": True} for name in ("sandbox", "door")}}


def _example() -> dict:
    text = (CHART / "README.md").read_text()
    block = re.search(r"Or a bucket of S3 that exists:\n\n((?: {6}.*\n)+)", text)
    assert block
    return yaml.safe_load(block[1])


def test_who_keeps_files_is_told_has_the_key_and_may_go_there() -> None:
    things = render(merged(_example(), JOBS, SANDBOX))
    told = {name: (variables(c), c.get("envFrom", [])) for name, c in main_containers(things) if name in USERS}
    assert told.keys() == USERS
    assert all({"secretRef": {"name": "object-store"}} in secrets for _, secrets in told.values())
    assert told["search"][0]["QUELEA_SEARCH_BLOBS_URL"] == "s3://bucket/quelea"
    assert told["worker"][0]["QUELEA_SEARCH_BLOBS_URL"] == "s3://bucket/quelea"
    assert told["gateway"][0]["QUELEA_GATEWAY_RUNS_URL"] == "s3://bucket/quelea/runs"
    policies = {component(one): one["spec"] for one in of_kind(things, "NetworkPolicy")}
    assert {name for name, spec in policies.items() if RULE in spec.get("egress", [])} == USERS | {"maintenance"}
    claims = [claim["metadata"]["name"] for claim in of_kind(things, "PersistentVolumeClaim")]
    assert not [name for name in claims if name.endswith(("blobs", "backup"))]


def test_a_backup_has_the_key_of_the_bucket() -> None:
    cron = named(render(merged(_example(), JOBS)), "CronJob", "backup")
    job = cron["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    every = [*job.get("initContainers", []), *job["containers"]]
    assert {c["command"][2] for c in every} == {"quelea_search.admin", "quelea_retriever.admin"}
    for container in every:
        assert {"secretRef": {"name": "object-store"}} in container["envFrom"]
        assert "s3://bucket/backups" in container["command"]
