"""Signing in, limits, a set of models: the how-to's values render, and the services understand what they are told."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
import yaml
from helm_python.errors import HelmError
from quelea_gateway.core.callers.sign_in import read
from quelea_gateway.settings import Settings
from support.chart_render import REPOSITORY, containers, merged, named, of_kind, render, variables

TEXT = (REPOSITORY / "docs/howto/sign-in.md").read_text(encoding="utf-8")
TLS = {"tls": {"mode": "generated", "stores": True}}


def example(language: str) -> str:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)[0]


CHART: dict[str, Any] = yaml.safe_load(example("yaml"))


def gateway(things: list[dict[str, Any]]) -> tuple[dict[str, Any], dict[str, str]]:
    """Its container and what it is told."""
    pod = named(things, "Deployment", "gateway")["spec"]["template"]["spec"]
    [main] = [one for one in containers(pod) if one["name"] == "gateway"]
    return main, variables(main)


def egress(things: list[dict[str, Any]], service: str) -> list[dict[str, Any]]:
    [policy] = [one for one in of_kind(things, "NetworkPolicy") if one["metadata"]["name"].endswith(f"-{service}")]
    return policy["spec"]["egress"]


def arrows(things: list[dict[str, Any]], service: str) -> set[tuple[str, int]]:
    return {
        (to["podSelector"]["matchLabels"].get("app.kubernetes.io/component", ""), port["port"])
        for rule in egress(things, service)
        for to in rule.get("to", [])
        if "podSelector" in to
        for port in rule.get("ports", [])
    }


def test_the_file_of_the_how_to_is_read(tmp_path):
    file = tmp_path / "openid.toml"
    file.write_text(example("toml"), encoding="utf-8")
    told = read(file)
    assert told.login is not None
    assert [(one.group, one.tenant, one.administrator) for one in told.members] == [
        ("us-desk", "us", False), ("quelea-operators", "us", True)
    ]  # fmt: skip


def test_the_chart_writes_the_file_that_the_how_to_shows(tmp_path):
    [found] = [one for one in of_kind(render(CHART), "ConfigMap") if "openid.toml" in one["data"]]
    by_chart, by_hand = tmp_path / "chart.toml", tmp_path / "hand.toml"
    by_chart.write_text(found["data"]["openid.toml"], encoding="utf-8")
    by_hand.write_text(example("toml"), encoding="utf-8")
    assert "client_secret_file" in tomllib.loads(found["data"]["openid.toml"])["login"]
    one, other = read(by_chart), read(by_hand)
    assert one.login is not None and other.login is not None
    assert one.login.client_secret_file == "/etc/quelea/sign-in-client/client-secret"
    same = {"client_secret_file": other.login.client_secret_file}
    assert one.model_copy(update={"login": one.login.model_copy(update=same)}) == other


@pytest.mark.parametrize("tls", [{}, TLS], ids=["plain", "tls"])
def test_the_gateway_is_told_and_reaches_redis_and_the_provider(tls):
    things = render(merged(CHART, tls))
    main, told = gateway(things)
    known = {f"QUELEA_GATEWAY_{name.upper()}" for name in Settings.model_fields}
    assert {name for name in told if name.startswith("QUELEA_GATEWAY_")} <= known
    assert told["QUELEA_GATEWAY_OPENID_FILE"] == "/etc/quelea/sign-in/openid.toml"
    assert told["QUELEA_GATEWAY_PUBLIC_URL"] == "https://quelea.example.com"
    assert told["QUELEA_GATEWAY_CALLS_PER_MINUTE_PER_KEY"] == "60"
    assert told["QUELEA_GATEWAY_CALLS_PER_MINUTE_PER_TENANT"] == "600"
    assert "QUELEA_GATEWAY_MAX_CALLS_PER_KEY" not in told
    assert told["QUELEA_GATEWAY_REDIS_URL"].startswith("rediss://:$(REDIS_PASSWORD)@" if tls else "redis://:$(REDIS")
    order = [one["name"] for one in main["env"]]
    assert order.index("REDIS_PASSWORD") < order.index("QUELEA_GATEWAY_REDIS_URL")  # else it is not put in
    mounts = {one["mountPath"]: one for one in main["volumeMounts"]}
    assert mounts["/etc/quelea/sign-in"]["readOnly"] is True
    pod = named(things, "Deployment", "gateway")["spec"]["template"]["spec"]
    volumes = {one["name"]: one for one in pod["volumes"]}
    assert volumes["sign-in-client"]["secret"]["secretName"] == "quelea-sign-in"
    assert ("redis", 6379) in arrows(things, "gateway")
    [world] = [rule for rule in egress(things, "gateway") if "ipBlock" in rule["to"][0]]
    assert [port["port"] for port in world["ports"]] == [443]
    assert world["to"][0]["ipBlock"]["except"]


def test_what_an_mcp_client_asks_for_is_in_the_file(tmp_path):
    things = render(merged(CHART, {"signIn": {"scopes": ["api://quelea/access"]}}))
    [found] = [one for one in of_kind(things, "ConfigMap") if "openid.toml" in one["data"]]
    (tmp_path / "openid.toml").write_text(found["data"]["openid.toml"], encoding="utf-8")
    assert read(tmp_path / "openid.toml").scopes == ("api://quelea/access",)


def test_without_it_the_gateway_has_neither():
    things = render({})
    main, told = gateway(things)
    assert not {"QUELEA_GATEWAY_OPENID_FILE", "QUELEA_GATEWAY_REDIS_URL", "QUELEA_GATEWAY_PUBLIC_URL"} & set(told)
    assert not [one for one in main["volumeMounts"] if "sign-in" in one["mountPath"]]
    assert ("redis", 6379) not in arrows(things, "gateway")
    assert not [rule for rule in egress(things, "gateway") if "ipBlock" in rule["to"][0]]


def test_a_change_of_groups_restarts_the_gateway_and_nobody_else():
    other = merged(CHART, {"signIn": {"members": [{"group": "*"}]}})

    def hashes(values: dict[str, Any]) -> dict[str, Any]:
        kinds = ("Deployment", "StatefulSet")
        pods = [one for kind in kinds for one in of_kind(render(values), kind)]
        return {one["metadata"]["name"]: one["spec"]["template"]["metadata"]["annotations"] for one in pods}

    before, after = hashes(CHART), hashes(other)
    assert [name for name in before if before[name] != after[name]] == ["demo-quelea-gateway"]


def test_the_provider_alone_where_its_address_is_given():
    rule = {"to": [{"ipBlock": {"cidr": "192.0.2.7/32"}}], "ports": [{"port": 8443}]}
    things = render(merged(CHART, {"signIn": {"egress": [rule]}, "networkPolicy": {"world": {"enabled": False}}}))
    assert [one for one in egress(things, "gateway") if "ipBlock" in one["to"][0]] == [rule]


def test_the_issuers_port_is_the_one_that_is_open():
    things = render(merged(CHART, {"signIn": {"issuer": "https://login.example.com:8443/realms/desk"}}))
    [world] = [rule for rule in egress(things, "gateway") if "ipBlock" in rule["to"][0]]
    assert [port["port"] for port in world["ports"]] == [8443]


def test_the_page_is_where_the_ingress_is():
    values = merged(CHART, {"signIn": {"publicUrl": ""}, "ingress": {"enabled": True, "host": "q.example.com"}})
    assert gateway(render(values))[1]["QUELEA_GATEWAY_PUBLIC_URL"] == "https://q.example.com"


def test_limits_are_shared_without_signing_in_when_asked_for():
    things = render({"limits": {"shared": True, "callsPerTenant": "200"}})
    _, told = gateway(things)
    assert told["QUELEA_GATEWAY_MAX_CALLS_PER_TENANT"] == "200"
    assert "QUELEA_GATEWAY_REDIS_URL" in told
    assert ("redis", 6379) in arrows(things, "gateway")


def test_a_redis_that_exists_is_the_gateways_too():
    outside = {"redis": {"existingSecret": "our-redis"}, "services": {"redis": {"enabled": False}}}
    main, _ = gateway(render(merged(CHART, outside)))
    [found] = [one for one in main["env"] if one["name"] == "QUELEA_GATEWAY_REDIS_URL"]
    assert found["valueFrom"]["secretKeyRef"] == {"name": "our-redis", "key": "url"}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"issuer": ""}, "signIn.issuer names the provider"),
        ({"members": []}, "signIn.members says"),
        ({"clientId": "", "audiences": []}, "name one of them"),
        ({"publicUrl": ""}, "signIn.publicUrl or ingress.host"),
        ({"issuer": "http://login.example.com"}, "issuer"),
        ({"members": [{"group": "a", "rights": {"*": "own"}}]}, "must be one of 'read', 'write', 'manage'"),
        ({"members": [{"tenant": "a"}]}, "group"),
        ({"scopes": ["openid profile"]}, "scopes"),
    ],
)
def test_what_cannot_work_is_refused(values, said):
    with pytest.raises(HelmError, match=re.escape(said)):
        render(merged(CHART, {"signIn": values}))


def test_where_nobody_leaves_the_cluster_the_way_must_be_named():
    with pytest.raises(HelmError, match=re.escape("signIn.egress has to name")):
        render(merged(CHART, {"networkPolicy": {"world": {"enabled": False}}}))


def test_a_set_of_models_is_read_by_retriever_and_gateway():
    things = render({"models": {"existingClaim": "models", "set": "/models/sets/active"}})
    for name in ("retriever", "gateway"):
        pod = named(things, "Deployment", name)["spec"]["template"]["spec"]
        [main] = [one for one in containers(pod) if one["name"] == name]
        assert variables(main)[f"QUELEA_{name.upper()}_MODEL_SET"] == "/models/sets/active"
        assert {"name": "models", "mountPath": "/models", "readOnly": True} in main["volumeMounts"]
        assert {"name": "models", "persistentVolumeClaim": {"claimName": "models"}} in pod["volumes"]


def test_a_set_of_models_wants_their_volume():
    with pytest.raises(HelmError, match=re.escape("models.enabled or models.existingClaim")):
        render({"models": {"set": "/models/sets/active"}})
