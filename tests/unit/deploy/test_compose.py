"""deploy/compose: who reaches whom is what the chart's policies say, and every variable is a setting."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from quelea_embedder.settings import EmbedderSettings
from quelea_gateway.settings import Settings as Gateway
from quelea_generator.settings import GeneratorSettings
from quelea_retriever.settings import Settings as Retriever
from quelea_sandbox.registry.settings import ToolSettings
from quelea_sandbox.settings import SandboxSettings
from quelea_search.door.settings import DoorSettings
from quelea_search.settings import SearchSettings

REPOSITORY = Path(__file__).parents[3]
FILE = REPOSITORY / "deploy/compose/compose.yaml"
COMPOSE: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
CHART: dict[str, Any] = yaml.safe_load((REPOSITORY / "deploy/helm/quelea/values.yaml").read_text(encoding="utf-8"))
SETTINGS = {
    "EMBEDDER": EmbedderSettings,
    "RETRIEVER": Retriever,
    "SEARCH": SearchSettings,
    "GENERATOR": GeneratorSettings,
    "GATEWAY": Gateway,
    "SANDBOX": SandboxSettings,
    "MARKET": DoorSettings,
}
OURS = [name for name in SERVICES if name not in ("redis", "qdrant")]
# What has a chart's port and is reached in another way here, or is not here.
BY_SOCKET = "redis"
NOT_HERE = ("maintenance", "evaluation", "test", "engine")


def networks(service: str) -> set[str]:
    return set(SERVICES[service].get("networks", ()))


def mounts(service: str) -> dict[str, str]:
    """Volume or path of this machine -> where it is in the container."""
    parts = [one.split(":") for one in SERVICES[service].get("volumes", ())]
    return {source: target for source, target, *_ in parts}


def chart_arrows() -> list[tuple[str, str]]:
    table = CHART["networkPolicy"]["arrows"]
    pairs = {(caller, callee.split(":")[0]) for caller, callees in table.items() for callee in callees}
    return sorted(pair for pair in pairs if not set(pair) & set(NOT_HERE) and pair[0] != pair[1])


@pytest.mark.parametrize(("caller", "callee"), chart_arrows())
def test_who_may_call_whom_in_the_chart_may_here(caller: str, callee: str) -> None:
    if callee == BY_SOCKET:
        assert "redis-socket" in mounts(caller)
    elif (caller, callee) == ("sandbox", "door"):  # the engine mounts the door's socket into the runs
        assert SERVICES["sandbox"]["environment"]["QUELEA_SANDBOX_MARKET_SOCKET_DIR"].endswith(
            f"/volumes/{COMPOSE['volumes']['door-socket']['name']}/_data"
        )
    else:
        assert networks(caller) & networks(callee)


def test_the_sandbox_is_reached_by_the_gateway_alone() -> None:
    assert [name for name in SERVICES if networks(name) & networks("sandbox") and name != "sandbox"] == ["gateway"]
    assert all(COMPOSE["networks"][name]["internal"] is True for name in networks("sandbox"))


def test_redis_and_beat_have_no_network_and_the_stores_no_way_out() -> None:
    for name in ("redis", "beat", "prepare"):
        assert SERVICES[name]["network_mode"] == "none"
    for name in ("retriever", "embedder", "qdrant"):
        assert all(COMPOSE["networks"][one]["internal"] is True for one in networks(name))


def test_only_the_gateway_is_seen_from_outside_and_on_loopback() -> None:
    assert [name for name, one in SERVICES.items() if "ports" in one] == ["gateway"]
    assert SERVICES["gateway"]["ports"] == ["${QUELEA_LISTEN:-127.0.0.1:8080}:8080"]


def test_the_world_is_closed_until_it_is_opened() -> None:
    open_ones = {name for name, one in COMPOSE["networks"].items() if "internal" not in one}
    assert open_ones == {"page"}
    assert COMPOSE["networks"]["page"]["driver_opts"] == {"com.docker.network.bridge.enable_ip_masquerade": "false"}
    assert [name for name in SERVICES if "page" in networks(name)] == ["gateway"]
    assert "outside" < "page", "the engine takes the way out of the first by name"
    assert COMPOSE["networks"]["outside"]["internal"] == "${QUELEA_AIRGAPPED:-true}"
    assert {name for name in SERVICES if "outside" in networks(name)} == {"search", "worker", "generator", "door"}


def test_nothing_but_the_sandbox_has_the_engine() -> None:
    socket = "/var/run/docker.sock"
    assert [name for name in SERVICES if socket in mounts(name)] == ["sandbox"]
    assert SERVICES["sandbox"]["profiles"] == ["agent"]


@pytest.mark.parametrize("name", SERVICES)
def test_each_is_locked_down_and_bounded(name: str) -> None:
    one = SERVICES[name]
    assert one["read_only"] is True
    assert one["cap_drop"] == ["ALL"]
    assert one["security_opt"] == ["no-new-privileges:true"]
    assert not one["user"].startswith("0")
    assert one["logging"]["options"]["max-size"]
    assert name == "prepare" or one["mem_limit"]
    assert "privileged" not in one and "cap_add" not in one


@pytest.mark.parametrize("name", [name for name in SERVICES if name != "prepare"])
def test_each_says_whether_it_works(name: str) -> None:
    assert SERVICES[name]["healthcheck"]["test"][0] == "CMD"
    chart = CHART["services"].get(name, {})
    port, health = chart.get("ports", {}).get("grpc"), chart.get("health")
    if health:
        assert SERVICES[name]["healthcheck"]["test"][-2:] == [str(port), health]


@pytest.mark.parametrize("name", OURS)
def test_every_variable_is_a_setting_and_every_address_a_service(name: str) -> None:
    for variable, value in SERVICES[name].get("environment", {}).items():
        _, prefix, field = variable.split("_", 2)
        fields = set(SETTINGS[prefix].model_fields)
        fields |= set(ToolSettings.model_fields) if prefix == "SANDBOX" else set()
        assert field.lower() in fields, variable
        for host in re.findall(r"^(?:http://)?([a-z]+):74\d\d$", value):
            assert networks(host) & networks(name), variable


@pytest.mark.parametrize("name", OURS)
def test_images_are_those_that_make_images_makes_at_this_version(name: str) -> None:
    version = tomllib.loads((REPOSITORY / "services/gateway/pyproject.toml").read_text())["project"]["version"]
    kind = "search" if name in ("worker", "beat", "door") else "embedder" if name == "prepare" else name
    repository = CHART["services"][kind]["image"]["repository"]
    assert SERVICES[name]["image"] == f"${{QUELEA_REGISTRY:-}}{repository}:${{QUELEA_VERSION:-{version}}}"


def test_the_how_to_of_signing_in_fits(tmp_path: Path) -> None:
    text = (REPOSITORY / "docs/howto/sign-in.md").read_text(encoding="utf-8")
    override = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)[-1])
    assert set(override["services"]) == {"gateway"}
    assert set(override["services"]["gateway"]["secrets"]) == set(override["secrets"])
    for variable in override["services"]["gateway"]["environment"]:
        assert variable.removeprefix("QUELEA_GATEWAY_").lower() in Gateway.model_fields


def test_compose_itself_takes_the_file() -> None:
    program = shutil.which("docker-compose")
    if not program:
        pytest.skip("COMPOSE IS NOT TESTED: there is none here (apt-get install docker-compose)")
    profiles = [word for name in ("agent", "fetch", "web", "qdrant") for word in ("--profile", name)]
    done = subprocess.run(
        [program, "-f", str(FILE), *profiles, "config"], check=False, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert set(yaml.safe_load(done.stdout)["services"]) == set(SERVICES)
