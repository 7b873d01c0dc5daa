"""The chart tells processes only what they understand: settings, addresses, health names, metrics, routes, modules."""

from __future__ import annotations

import importlib
import importlib.util
import re
import shlex
from pathlib import Path

import pytest
import yaml
from pydantic_settings import BaseSettings
from quelea_embedder.settings import EmbedderSettings
from quelea_gateway.settings import Settings as GatewaySettings
from quelea_generator.settings import GeneratorSettings
from quelea_retriever.settings import Settings as RetrieverSettings
from quelea_sandbox.registry.settings import ToolSettings
from quelea_sandbox.settings import SandboxSettings
from quelea_search.door.settings import DoorSettings
from quelea_search.settings import SearchSettings
from support.chart_render import (
    CHART,
    MATRIX,
    REPOSITORY,
    Object,
    component,
    containers,
    main_containers,
    merged,
    named,
    of_kind,
    render,
    variables,
    workloads,
)

SETTINGS: dict[str, tuple[type[BaseSettings], ...]] = {
    "EMBEDDER": (EmbedderSettings,),
    "RETRIEVER": (RetrieverSettings,),
    "SEARCH": (SearchSettings,),
    "GENERATOR": (GeneratorSettings,),
    "GATEWAY": (GatewaySettings,),
    "SANDBOX": (SandboxSettings, ToolSettings),
    "MARKET": (DoorSettings,),
}
VALUES: Object = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
CASES = pytest.mark.parametrize("case", MATRIX)


@CASES
def test_every_variable_is_a_setting_and_the_settings_take_it(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = 0
    for name, container in main_containers(render(MATRIX[case])):
        with monkeypatch.context() as patch:
            told = variables(container)
            for variable, value in told.items():
                patch.setenv(variable, value)
            assert told.pop("QUELEA_TLS_DIR", "/etc/quelea/tls") == "/etc/quelea/tls"  # every process has this one
            prefixes = {v.split("_")[1] for v in told if v.startswith("QUELEA_")} - {"ENGINE", "QDRANT"}
            assert len(prefixes) <= 1, name
            for prefix in prefixes:
                classes = SETTINGS[prefix]
                fields = {field for settings in classes for field in settings.model_fields}
                ours = {v.removeprefix(f"QUELEA_{prefix}_").lower() for v in told if v.startswith("QUELEA_")}
                assert ours <= fields, f"{name}: {ours - fields}"
                for settings in classes:
                    settings()  # its validators agree
                seen += 1
    assert seen or case == "everything off"


@CASES
def test_modules_are_there(case: str) -> None:
    for name, container in main_containers(render(MATRIX[case])):
        if container["command"][:2] == ["python", "-m"]:
            module = container["command"][2]
            spec = importlib.util.find_spec(module)
            assert spec, name
            if spec.submodule_search_locations:
                assert importlib.util.find_spec(f"{module}.__main__"), name


def test_the_engine_gets_what_its_launcher_reads() -> None:
    path = REPOSITORY / "services/generator/engine/launch.py"
    spec = importlib.util.spec_from_file_location("launch_of_the_chart", path)
    assert spec
    assert spec.loader
    launch = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(launch)
    documented = set(re.findall(r"QUELEA_ENGINE_[A-Z_]+", launch.__doc__)) | {"QUELEA_ENGINE_PORT"}
    engine = dict(main_containers(render(MATRIX["gpu"])))["engine"]
    told = variables(engine)
    assert {v for v in told if v.startswith("QUELEA_")} <= documented
    command = shlex.join(launch.command(told))
    assert "--lora-modules finance=/models/finance-lora" in command
    assert "--served-model-name qwen2.5-7b-instruct" in command
    assert "--port 8000" in command


def test_the_generator_knows_every_replica_of_the_engine_by_name() -> None:
    def endpoints(values: Object) -> tuple[str, ...]:
        told = variables(dict(main_containers(render(values)))["generator"])
        return GeneratorSettings(endpoint=told.get("QUELEA_GENERATOR_ENDPOINT", ""), model="m").endpoints

    assert endpoints({}) == ()
    host = "demo-quelea-engine.finance.svc.cluster.local:8000/v1"
    assert endpoints(MATRIX["gpu"]) == tuple(f"http://demo-quelea-engine-{i}.{host}" for i in range(3))
    assert len(endpoints(MATRIX["hpa"])) == VALUES["serviceDefaults"]["autoscaling"]["max"]
    assert endpoints(MATRIX["outside"]) == ("http://engine.elsewhere:8000/v1",)
    stateful = named(render(MATRIX["gpu"]), "StatefulSet", "engine")
    assert stateful["metadata"]["name"] == "demo-quelea-engine"
    assert stateful["spec"]["serviceName"] == "demo-quelea-engine"


@CASES
def test_addresses_that_are_told_are_services_and_the_policy_has_the_same_arrows(case: str) -> None:
    """What a process is told to call is what it may call, and nothing more."""
    things = render(MATRIX[case])
    services = {t["metadata"]["name"]: t for t in of_kind(things, "Service")}
    told: set[tuple[str, str, int]] = set()
    for thing in workloads(things):
        pod = thing["spec"]["template"]["spec"]
        for container in containers(pod):
            values = [v["value"] for v in container.get("env", []) if "value" in v]
            for text in (*values, *(str(word) for word in container.get("command", []))):
                for host, port in re.findall(r"([a-z0-9.-]+)\.finance\.svc\.cluster\.local:(\d+)", text):
                    service = services[host.rsplit(".", 1)[-1]]
                    assert int(port) in {p["port"] for p in service["spec"]["ports"]}
                    told.add((component(thing), component(service), int(port)))
    allowed: set[tuple[str, str, int]] = set()
    for policy in of_kind(things, "NetworkPolicy"):
        for rule in policy["spec"].get("egress", []):
            for to in rule.get("to", []):
                labels = to.get("podSelector", {}).get("matchLabels", {})
                if "app.kubernetes.io/component" in labels:
                    callee = labels["app.kubernetes.io/component"]
                    allowed |= {(component(policy), callee, p["port"]) for p in rule["ports"]}
    # Beside the addresses in settings: the members of a Qdrant cluster, the tests' pods.
    extra = {("qdrant", "qdrant", 6335), ("test", "gateway", 8080)}
    # It reads search's settings, and speaks with Redis alone.
    told -= {("beat", "retriever", 7402), ("beat", "door", 7406), ("beat", "door", 7409)}
    if case == "pods":  # the sandbox is told on behalf of its pods, and has no business there itself
        told = told - {("sandbox", "door", 7409)} | {("sandbox-run", "door", 7409)}
    allowed = {arrow for arrow in allowed if arrow[0] != "maintenance"}  # test_chart_jobs.py has those
    if case != "everything off":
        assert allowed - extra == told


def test_health_names_are_those_that_the_services_register() -> None:
    modules = {
        "embedder": "quelea_embedder.service",
        "retriever": "quelea_retriever.service",
        "search": "quelea_search.service",
        "generator": "quelea_generator.service",
        "sandbox": "quelea_sandbox.service",
        "door": "quelea_search.door.service",
    }
    with_health = {name: own["health"] for name, own in VALUES["services"].items() if own.get("health")}
    assert with_health.keys() == modules.keys()
    for name, health in with_health.items():
        module = importlib.import_module(modules[name])
        assert health == getattr(module, "NAME", None) or health == getattr(module, "SERVICE", None), name
        main = named(render(MATRIX["everything on"]), VALUES["services"][name].get("kind", "Deployment"), name)
        probe = next(c for n, c in main_containers([main]) if c["name"] == name)["readinessProbe"]
        assert probe["grpc"]["service"] == health


def test_the_gateways_probes_are_routes_of_it() -> None:
    from quelea_gateway.rest.health import router

    routes = {getattr(route, "path", "") for route in router.routes}
    for probe in VALUES["services"]["gateway"]["probes"].values():
        assert probe["httpGet"]["path"] in routes
    assert "/readyz" in routes


def test_services_listen_on_an_ipv6_cluster_too() -> None:
    six = merged(MATRIX["everything on"], {"listenHost": "[::]"})
    found = dict(main_containers(render(six)))
    assert variables(found["gateway"])["QUELEA_GATEWAY_HTTP_LISTEN"] == "[::]:8080"
    assert variables(found["retriever"])["QUELEA_RETRIEVER_LISTEN"] == "[::]:7402"
    assert variables(found["retriever"])["QUELEA_RETRIEVER_METRICS_HOST"] == "::"
    assert variables(found["engine"])["QUELEA_ENGINE_HOST"] == "::"


def test_the_embedder_has_as_many_workers_as_processors() -> None:
    embedder = dict(main_containers(render({})))["embedder"]
    assert variables(embedder)["QUELEA_EMBEDDER_WORKERS"] == embedder["resources"]["limits"]["cpu"]


def test_a_worker_may_not_outgrow_its_pod() -> None:
    for case in MATRIX:
        found = dict(main_containers(render(MATRIX[case])))
        for name in {"search", "worker"} & found.keys():
            told = variables(found[name])
            children = int(told.get("QUELEA_SEARCH_WORKER_CONCURRENCY", "1"))
            limit = found[name]["resources"]["limits"]["memory"]
            assert limit.endswith("Gi")
            assert children * int(told["QUELEA_SEARCH_WORKER_MEMORY_MB"]) < int(limit[:-2]) * 1024


def test_what_comments_name_exists() -> None:
    text = (CHART / "values.yaml").read_text(encoding="utf-8") + (CHART / "README.md").read_text(encoding="utf-8")
    for prefix, field in re.findall(r"QUELEA_(SEARCH|GATEWAY|GENERATOR|EMBEDDER|RETRIEVER|MARKET)_([A-Z_]+)", text):
        assert any(field.lower() in settings.model_fields for settings in SETTINGS[prefix]), f"{prefix}_{field}"


def test_the_doors_ports_are_those_of_its_hosts() -> None:
    text = (REPOSITORY / "services/search/quelea_search/door/hosts.json").read_text(encoding="utf-8")
    ports = {int(number) for found in re.findall(r'"ports": \[([^\]]*)\]', text) for number in found.split(",")}
    assert ports | {80, 443} == set(VALUES["services"]["door"]["worldPorts"])


def test_the_sandboxes_engine_serves_what_its_settings_say(monkeypatch: pytest.MonkeyPatch) -> None:
    things = render(MATRIX["sandbox"])
    pod = named(things, "StatefulSet", "sandbox")["spec"]["template"]["spec"]
    by_name = {c["name"]: c for c in containers(pod)}
    assert [c["name"] for c in pod["initContainers"]] == ["runner-files", "engine", "runner-import"]
    for variable, value in variables(by_name["sandbox"]).items():
        monkeypatch.setenv(variable, value)
    settings = SandboxSettings()
    assert f"--host={settings.docker_host}" in by_name["engine"]["command"]
    assert settings.image == by_name["runner-import"]["command"][-1]
    assert settings.market_socket_dir == Path("/run/market")
    assert f"--group={pod['securityContext']['fsGroup']}" in by_name["engine"]["command"]
    for name in ("engine", "relay"):
        assert "/run/market" in {m["mountPath"] for m in by_name[name]["volumeMounts"]}
    most = by_name["engine"]["resources"]["limits"]["memory"]
    assert settings.max_containers * settings.memory_bytes <= int(most.removesuffix("Gi")) * 2**30
    dockerfile = (REPOSITORY / "services/agent-sandbox/runner/Dockerfile").read_text(encoding="utf-8")
    environment = dockerfile.rpartition("ENV ")[2].partition("USER")[0].replace("\\\n", " ").split()
    changes = [c.removeprefix("--change=") for c in by_name["runner-import"]["command"] if c.startswith("--change")]
    assert changes[0].removeprefix("ENV ").split() == environment
    assert "QUELEA_SANDBOX_MARKET_SOCKET_DIR" not in variables(
        dict(main_containers(render(merged(MATRIX["sandbox"], {"services": {"door": {"enabled": False}}}))))["sandbox"]
    )


def test_the_watermark_of_disks_reaches_every_service_and_its_own_wins() -> None:
    values = {"disk": {"minFreeBytes": "2000000000", "minFreeShare": "0.05"}}
    own = {"services": {"search": {"env": {"MIN_FREE_BYTES": "3000000000"}}}}
    told = {name: variables(container) for name, container in main_containers(render(merged(values, own)))}
    for name, prefix in (
        ("retriever", "RETRIEVER"),
        ("gateway", "GATEWAY"),
        ("search", "SEARCH"),
        ("worker", "SEARCH"),
    ):
        wanted = "3000000000" if prefix == "SEARCH" else "2000000000"
        assert told[name][f"QUELEA_{prefix}_MIN_FREE_BYTES"] == wanted, name
        assert told[name][f"QUELEA_{prefix}_MIN_FREE_SHARE"] == "0.05", name
    default = {name: variables(container) for name, container in main_containers(render({}))}
    assert not [v for told_ in default.values() for v in told_ if "MIN_FREE" in v], "the services' own defaults"
