"""Migration, backup, restore and re-embedding on a cluster: the same commands, settings and limits as by hand."""

from __future__ import annotations

import json
import re
from typing import Any

import kubernetes_validate
import pytest
from pydantic_settings import BaseSettings
from quelea_retriever import admin as retriever_admin
from quelea_retriever.settings import Settings as RetrieverSettings
from quelea_search import admin as search_admin
from quelea_search.settings import SearchSettings
from support.chart_render import (
    LONG_NAME,
    MATRIX,
    Object,
    component,
    containers,
    merged,
    named,
    of_kind,
    render,
)

VERSIONS = ("1.30", "1.34", "1.36")
ALL_JOBS: Object = {
    "jobs": {
        "backup": {"enabled": True},
        "restore": {"enabled": True, "replace": True},
        "reembed": {"enabled": True, "embedder": "embedder2:7401", "into": "quelea-v2", "dropOld": True},
    }
}
NO_SERVER = {
    case for case in MATRIX if not any(t["metadata"]["name"].endswith("-migrate") for t in render(MATRIX[case]))
}
SERVERS = [case for case in MATRIX if case not in NO_SERVER]
CASES = pytest.mark.parametrize("case", SERVERS)
SETTINGS: dict[str, type[BaseSettings]] = {"retriever": RetrieverSettings, "search": SearchSettings}


def _all(case: str, name: str = "demo") -> list[Object]:
    return render(merged(MATRIX[case], ALL_JOBS), name)


def _specs(things: list[Object]) -> dict[str, Object]:
    """Name without the release's -> spec of a Job that runs a command of ours."""
    ours = [t for t in of_kind(things, "Job") if "-bind-" not in t["metadata"]["name"]]  # that one: test_chart_waits.py
    jobs = {t["metadata"]["name"].split("-quelea-")[-1]: t["spec"] for t in ours}
    crons = {
        t["metadata"]["name"].split("-quelea-")[-1]: t["spec"]["jobTemplate"]["spec"]
        for t in of_kind(things, "CronJob")
    }
    return jobs | crons


def _pods(things: list[Object]) -> dict[str, Object]:
    return {name: spec["template"]["spec"] for name, spec in _specs(things).items()}


def test_only_the_migration_is_there_by_itself_and_only_for_a_server() -> None:
    assert {"embedded", "everything off"} <= NO_SERVER
    assert set(_specs(render({}))) == {"migrate"}
    assert set(_specs(_all("default"))) == {"migrate", "backup", "restore", "reembed"}
    assert _specs(render({"jobs": {"migrate": {"enabled": False}}})) == {}
    assert not of_kind(render(MATRIX["everything off"]), "Job", "CronJob", "ServiceAccount")


@CASES
def test_every_job_is_one_that_the_api_server_would_take(case: str) -> None:
    things = [t for t in _all(case) if t["kind"] in ("Job", "CronJob") or component(t) == "maintenance"]
    assert {"Job", "CronJob", "ServiceAccount"} <= {t["kind"] for t in things}
    for thing in things:
        for version in VERSIONS:
            assert kubernetes_validate.validate(thing, version, strict=True) == version
        assert len(thing["metadata"]["name"]) <= 52, "a CronJob's name and a hash are the value of a label"


def test_names_fit_with_the_longest_release() -> None:
    for thing in of_kind(_all("default", LONG_NAME), "Job", "CronJob"):
        assert re.fullmatch(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", thing["metadata"]["name"])
        assert thing["kind"] == "Job" or len(thing["metadata"]["name"]) <= 52


@CASES
def test_pods_are_restricted_have_no_token_and_a_bound_on_everything(case: str) -> None:
    things = _all(case)
    accounts = {t["metadata"]["name"]: t for t in of_kind(things, "ServiceAccount")}
    for name, spec in _specs(things).items():
        pod = spec["template"]["spec"]
        assert spec["activeDeadlineSeconds"] >= 60
        assert 0 <= spec["backoffLimit"] <= 10
        assert pod["restartPolicy"] == "Never"
        assert accounts[pod["serviceAccountName"]]["automountServiceAccountToken"] is False
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] == 65532
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in containers(pod):
            assert container["securityContext"] == {
                "runAsNonRoot": True,
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert container["resources"]["requests"].keys() == container["resources"]["limits"].keys()
            assert {"cpu", "memory", "ephemeral-storage"} <= container["resources"]["limits"].keys(), name
        own = {v["name"] for v in pod["volumes"]}
        assert own == {m["name"] for c in containers(pod) for m in c["volumeMounts"]}
        for volume in pod["volumes"]:
            assert volume.keys() & {"emptyDir", "persistentVolumeClaim", "secret"}, "no host paths"


@CASES
def test_every_reference_resolves(case: str) -> None:
    things = _all(case)
    claims = {t["metadata"]["name"] for t in of_kind(things, "PersistentVolumeClaim")}
    secrets = {t["metadata"]["name"] for t in of_kind(things, "Secret")}
    of_services = {
        ref["name"]
        for t in of_kind(things, "Deployment", "StatefulSet")
        for c in containers(t["spec"]["template"]["spec"])
        for ref in _secrets(c)
    }
    mounted = {
        v["secret"]["secretName"]
        for t in of_kind(things, "Deployment", "StatefulSet")
        for v in t["spec"]["template"]["spec"]["volumes"]
        if "secret" in v
    }
    for pod in _pods(things).values():
        for volume in pod["volumes"]:
            if "persistentVolumeClaim" in volume:
                assert volume["persistentVolumeClaim"]["claimName"] in claims
            if "secret" in volume:
                assert volume["secret"]["secretName"] in secrets | mounted
        for container in containers(pod):
            for ref in _secrets(container):
                assert ref["name"] in secrets | of_services


def _secrets(container: Object) -> list[Object]:
    keyed = [v["valueFrom"]["secretKeyRef"] for v in container.get("env", []) if "valueFrom" in v]
    return keyed + [one["secretRef"] for one in container.get("envFrom", [])]


@CASES
def test_commands_are_those_of_the_services_and_take_their_settings(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[str] = set()
    for pod in _pods(_all(case)).values():
        for container in containers(pod):
            part = container["name"]
            python, flag, module, *words = container["command"]
            assert [python, flag, module] == ["python", "-m", f"quelea_{part}.admin"]
            with monkeypatch.context() as patch:
                for variable in container["env"]:
                    secret = variable["name"] == "QUELEA_SEARCH_REDIS_URL"
                    patch.setenv(
                        variable["name"],
                        variable.get("value", "redis://:x@redis:6379/0" if secret else "from-a-secret"),
                    )
                fields = SETTINGS[part].model_fields
                prefix = f"QUELEA_{part.upper()}_"
                ours = {
                    v["name"].removeprefix(prefix).lower() for v in container["env"] if v["name"].startswith(prefix)
                }
                assert ours <= fields.keys()
                settings = SETTINGS[part]()
                _parse(part, words, settings)
                if part == "retriever":
                    assert settings.store == "qdrant"  # type: ignore[attr-defined]  # the retriever's
            seen.add(f"{part} {words[0]}")
    assert seen == {
        "retriever migrate",
        "retriever backup",
        "retriever restore",
        "retriever reembed",
        "search backup",
        "search restore",
    }


def _parse(part: str, words: list[str], settings: Any) -> None:
    """The command line takes these words; it would end the process with SystemExit 2."""
    if part == "retriever":
        retriever_admin.parser(settings).parse_args(words)
    else:
        search_admin.parser().parse_args(words)


def test_migration_runs_before_and_after_an_upgrade_and_holds_it_up_no_longer_than_it_says() -> None:
    (job,) = of_kind(render({"jobs": {"migrate": {"seconds": 900}}}), "Job")
    notes = job["metadata"]["annotations"]
    assert notes["helm.sh/hook"] == "pre-upgrade,post-upgrade"
    assert notes["helm.sh/hook-delete-policy"] == "before-hook-creation,hook-succeeded"
    assert (job["spec"]["backoffLimit"], job["spec"]["activeDeadlineSeconds"]) == (3, 900)
    assert job["spec"]["ttlSecondsAfterFinished"] > 0
    hooked = [t for t in render({}) if "helm.sh/hook" in t["metadata"].get("annotations", {}) and t["kind"] != "Pod"]
    assert [t["kind"] for t in hooked] == ["Job"], "its account and its policy are there from the installation on"


def test_a_backup_takes_the_records_first_and_a_restore_puts_them_back_last() -> None:
    things = _all("default")
    cron = named(things, "CronJob", "backup")
    assert "suspend" not in cron["spec"]
    assert cron["spec"]["schedule"] == "17 3 * * *"
    assert (cron["spec"]["concurrencyPolicy"], cron["spec"]["timeZone"]) == ("Forbid", "Etc/UTC")
    pods = _pods(things)
    assert [c["name"] for c in containers(pods["backup"])] == ["search", "retriever"]
    assert [c["name"] for c in containers(pods["restore"])] == ["retriever", "search"]
    for container in containers(pods["backup"]):
        assert container["command"][3:8] == ["backup", "--to", "/backups", "--keep", "7"]
        assert {"name": "backups", "mountPath": "/backups"} in container["volumeMounts"]
    assert "--blobs" in pods["backup"]["initContainers"][0]["command"]
    assert {"--blobs", "--replace"} <= set(pods["restore"]["containers"][0]["command"])
    assert "--replace" not in pods["restore"]["initContainers"][0]["command"]
    claim = named(things, "PersistentVolumeClaim", "backups")
    assert claim["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    one = {"jobs": {"backup": {"enabled": True, "parts": ["search"], "files": False, "url": "s3://b/p", "keep": 3}}}
    pod = _pods(render(one))["backup"]
    assert "initContainers" not in pod
    assert pod["containers"][0]["command"][3:] == ["backup", "--to", "s3://b/p", "--keep", "3"]
    assert [v["name"] for v in pod["volumes"]] == ["tmp"]
    assert not [t for t in render(one) if t["metadata"]["name"].endswith("-backups")]


@CASES
def test_nothing_is_restored_or_embedded_again_unless_somebody_makes_the_job(case: str) -> None:
    """Were it a Job of the release, another image would fail the upgrade, or, under another name, run it once more."""
    things = _all(case)
    for name in ("restore", "reembed"):
        assert named(things, "CronJob", name)["spec"]["suspend"] is True
    jobs = [t["metadata"]["name"] for t in of_kind(things, "Job")]
    assert {name.split("-quelea-")[-1].split("-")[0] for name in jobs} <= {"migrate", "bind"}


def test_what_is_run_by_hand_runs_as_it_is_asked_to() -> None:
    specs = _specs(_all("default"))
    assert specs["restore"]["backoffLimit"] == 0
    assert specs["reembed"]["backoffLimit"] == 10
    words = _pods(_all("default"))["reembed"]["containers"][0]["command"]
    assert words[3:] == ["reembed", "--embedder", "embedder2:7401", "--into", "quelea-v2", "--drop-old"]
    bare = _pods(render({"jobs": {"reembed": {"enabled": True}}}))["reembed"]["containers"][0]["command"]
    assert bare[3:] == ["reembed"]
    named_one = {
        "jobs": {"restore": {"enabled": True, "parts": ["search"], "files": False, "from": "search-20260101T000000Z"}}
    }
    words = _pods(render(named_one))["restore"]["containers"][0]["command"]
    assert words[3:] == ["restore", "--from", "/backups/search-20260101T000000Z"]


@CASES
def test_the_policy_lets_them_reach_what_their_settings_name_and_no_more(case: str) -> None:
    things = _all(case)
    policy = named(things, "NetworkPolicy", "maintenance")["spec"]
    assert policy["ingress"] == []
    told = set()
    for pod in _pods(things).values():
        for container in containers(pod):
            for value in (v["value"] for v in container["env"] if "value" in v):
                told |= set(re.findall(r"-(qdrant|redis|embedder)\.finance\.svc\.cluster\.local:(\d+)", value))
    allowed = set()
    for rule in policy["egress"]:
        for to in rule["to"]:
            part = to.get("podSelector", {}).get("matchLabels", {}).get("app.kubernetes.io/component")
            if part:
                allowed |= {(part, str(p["port"])) for p in rule["ports"]}
            assert to.get("ipBlock", {}).get("cidr") not in ("0.0.0.0/0", "::/0")
    assert allowed == told
    for name, _ in allowed:
        rules = json.dumps(named(things, "NetworkPolicy", name)["spec"]["ingress"])
        assert '"app.kubernetes.io/component": "maintenance"' in rules
    labels = [spec["template"]["metadata"]["labels"] for spec in _specs(things).values()]
    assert all(policy["podSelector"]["matchLabels"].items() <= own.items() for own in labels)
    for service in of_kind(things, "Service"):
        assert not any(service["spec"]["selector"].items() <= own.items() for own in labels), "no traffic goes to a job"


def test_with_tls_they_have_the_certificates_of_the_services_whose_programs_they_run() -> None:
    things = render(merged({"tls": {"mode": "generated", "stores": True}}, ALL_JOBS))
    for pod in _pods(things).values():
        secrets = {v["name"]: v["secret"]["secretName"] for v in pod["volumes"] if "secret" in v}
        for container in containers(pod):
            volume = f"tls-{container['name']}"
            assert secrets[volume].endswith(f"-tls-{container['name']}")
            assert {"name": volume, "mountPath": "/etc/quelea/tls", "readOnly": True} in container["volumeMounts"]
            told = {v["name"]: v.get("value", "") for v in container["env"]}
            assert told["QUELEA_TLS_DIR"] == "/etc/quelea/tls"
        assert set(secrets) == {f"tls-{container['name']}" for container in containers(pod)}


def test_with_the_embedded_store_the_records_are_backed_up_all_the_same() -> None:
    values = merged(MATRIX["embedded"], {"jobs": {"backup": {"enabled": True, "parts": ["search"]}}})
    assert set(_specs(render(values))) == {"backup"}
