"""The recipe of docs/howto/sign-in.md: its values render, and the gateway understands and reaches what they name."""

from __future__ import annotations

import re

import pytest
import yaml
from quelea_gateway.core.callers.sign_in import read
from quelea_gateway.settings import Settings
from support.chart_render import REPOSITORY, containers, merged, named, of_kind, render, variables

TEXT = (REPOSITORY / "docs/howto/sign-in.md").read_text(encoding="utf-8")


def example(language: str) -> str:
    [found] = re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)
    return found


def test_the_file_of_the_how_to_is_read(tmp_path):
    file = tmp_path / "openid.toml"
    file.write_text(example("toml"), encoding="utf-8")
    told = read(file)
    assert told.login is not None
    assert [(one.group, one.tenant, one.administrator) for one in told.members] == [
        ("us-desk", "us", False), ("quelea-operators", "us", True)
    ]  # fmt: skip


@pytest.mark.parametrize("tls", [{}, {"tls": {"mode": "generated", "stores": True}}], ids=["plain", "tls"])
def test_the_values_of_the_how_to(tls):
    sandbox = {"services": {"sandbox": {"enabled": True}}}
    things = render(merged(yaml.safe_load(example("yaml")), tls, sandbox))
    gateway = named(things, "Deployment", "gateway")
    pod = gateway["spec"]["template"]["spec"]
    [main] = [one for one in containers(pod) if one["name"] == "gateway"]
    told = variables(main)
    known = {f"QUELEA_GATEWAY_{name.upper()}" for name in Settings.model_fields}
    names = ("OPENID_FILE", "PUBLIC_URL", "REDIS_URL", "AUDIT_DIR")
    assert {f"QUELEA_GATEWAY_{name}" for name in names} <= set(told) & known
    assert told["QUELEA_GATEWAY_REDIS_URL"].startswith("rediss://:$(REDIS_PASSWORD)@" if tls else "redis://:$(REDIS")
    order = [one["name"] for one in main["env"]]
    assert order.index("REDIS_PASSWORD") < order.index("QUELEA_GATEWAY_REDIS_URL")  # else it is not put in
    mounts = {one["mountPath"]: one for one in main["volumeMounts"]}
    assert mounts["/etc/quelea/sign-in"]["readOnly"] is True
    assert any(told["QUELEA_GATEWAY_AUDIT_DIR"].startswith(f"{path}/") for path in mounts)
    egress = [
        (to.get("podSelector", {}).get("matchLabels", {}).get("app.kubernetes.io/component"), port["port"])
        for policy in of_kind(things, "NetworkPolicy")
        if policy["metadata"]["name"].endswith("-gateway")
        for rule in policy["spec"].get("egress", [])
        for to in rule.get("to", [])
        for port in rule.get("ports", [{"port": None}])
    ]
    assert ("redis", 6379) in egress
