"""Default deny both ways, then the arrows of the table, and the world for three."""

from __future__ import annotations

import ipaddress

import pytest
from support.chart_render import MATRIX, Object, component, file, merged, named, of_kind, pods, render

WITH_POLICIES = [case for case in MATRIX if case != "everything off"]
_PRIVATE = """10.1.2.3 172.20.0.1 192.168.1.1 169.254.169.254 127.0.0.1 100.64.1.1
    fd00::1 fe80::1 ::1 ::ffff:10.0.0.1 64:ff9b::a9fe:a9fe""".split()
Arrow = tuple[str, str, int]


def _part(peer: Object) -> str:
    return str(peer.get("podSelector", {}).get("matchLabels", {}).get("app.kubernetes.io/component", ""))


def _arrows(policies: list[Object], way: str, peers: str) -> set[Arrow]:
    found = set()
    for policy in policies:
        for rule in policy["spec"].get(way, []):
            for peer in rule.get(peers, []):
                if _part(peer):
                    ends = (component(policy), _part(peer)) if way == "egress" else (_part(peer), component(policy))
                    found |= {(*ends, p["port"]) for p in rule["ports"]}
    return found


def _world(things: list[Object]) -> dict[str, Object]:
    return {
        component(policy): rule
        for policy in of_kind(things, "NetworkPolicy")
        for rule in policy["spec"].get("egress", [])
        if any(to.get("ipBlock", {}).get("cidr", "").endswith("/0") for to in rule.get("to", []))
    }


@pytest.mark.parametrize("case", WITH_POLICIES)
def test_everything_is_denied_first(case: str) -> None:
    things = render(MATRIX[case])
    deny = named(things, "NetworkPolicy", "deny")["spec"]
    assert deny["policyTypes"] == ["Ingress", "Egress"]
    assert "ingress" not in deny
    assert "egress" not in deny
    labels = [t["spec"]["template"]["metadata"]["labels"] for t in of_kind(things, "Deployment", "StatefulSet")]
    labels += [t["metadata"]["labels"] for t in of_kind(things, "Pod")]
    for own in labels:
        assert deny["podSelector"]["matchLabels"].items() <= own.items()
    for policy in of_kind(things, "NetworkPolicy"):
        assert policy["spec"]["policyTypes"] == ["Ingress", "Egress"]
        assert {} not in policy["spec"].get("egress", []), "an empty rule allows everything"
        for rule in policy["spec"].get("egress", []):
            assert rule.get("to"), f"{component(policy)} may call anybody"


@pytest.mark.parametrize("case", WITH_POLICIES)
def test_what_one_side_may_call_the_other_side_takes(case: str) -> None:
    policies = of_kind(render(MATRIX[case]), "NetworkPolicy")
    out, into = _arrows(policies, "egress", "to"), _arrows(policies, "ingress", "from")
    assert out == into
    assert ("gateway", "retriever", 7402) in out


def test_the_arrows_of_the_whole_picture() -> None:
    """As the design draws it; a change here is a change of who may call whom."""
    assert _arrows(of_kind(render(MATRIX["everything on"]), "NetworkPolicy"), "egress", "to") == {
        ("gateway", "retriever", 7402),
        ("gateway", "search", 7403),
        ("gateway", "generator", 7404),
        ("gateway", "sandbox", 7405),
        ("gateway", "door", 7406),
        ("retriever", "embedder", 7401),
        ("retriever", "qdrant", 6333),
        ("search", "retriever", 7402),
        ("search", "redis", 6379),
        ("worker", "retriever", 7402),
        ("worker", "redis", 6379),
        ("search", "door", 7406),
        ("search", "door", 7409),
        ("worker", "door", 7406),
        ("worker", "door", 7409),
        ("beat", "redis", 6379),
        ("generator", "engine", 8000),
        ("sandbox", "door", 7409),
        ("qdrant", "qdrant", 6335),
        ("maintenance", "qdrant", 6333),
        ("maintenance", "embedder", 7401),
        ("maintenance", "redis", 6379),
        ("test", "gateway", 8080),
    }


def test_the_world_is_for_search_its_workers_and_the_door_without_private_addresses() -> None:
    world = _world(render(MATRIX["everything on"]))
    assert world.keys() == {"search", "worker", "door"}
    for name, rule in world.items():
        blocks = [to["ipBlock"] for to in rule["to"]]
        for address in _PRIVATE:
            ip = ipaddress.ip_address(address)
            ip = getattr(ip, "ipv4_mapped", None) or ip  # as it is on the wire
            for block in blocks:
                network = ipaddress.ip_network(block["cidr"])
                inside = ip.version == network.version and ip in network
                excepted = any(ip in ipaddress.ip_network(text) for text in block["except"])
                assert not inside or excepted, f"{name} reaches {address}"
        for block in blocks:
            whole = ipaddress.ip_network(block["cidr"])
            assert all(ipaddress.ip_network(text).version == whole.version for text in block["except"])
    assert {p["port"] for p in world["search"]["ports"]} == {80, 443}


def test_nobody_leaves_an_airgapped_cluster() -> None:
    assert _world(render(MATRIX["airgapped"])) == {}
    on = merged(MATRIX["everything on"], {"networkPolicy": {"world": {"enabled": False}}})
    assert _world(render(on)) == {}


def test_only_the_gateway_is_reached_from_outside() -> None:
    for policy in of_kind(render({}), "NetworkPolicy"):
        open_to_all = [r for r in policy["spec"].get("ingress", []) if not r.get("from")]
        assert bool(open_to_all) is (component(policy) == "gateway")
    limited = render(MATRIX["everything on"])
    for policy in of_kind(limited, "NetworkPolicy"):
        assert all(r.get("from") for r in policy["spec"].get("ingress", []))


def test_prometheus_reaches_metrics_and_nothing_else() -> None:
    for policy in of_kind(render(MATRIX["everything on"]), "NetworkPolicy"):
        for rule in policy["spec"].get("ingress", []):
            if rule["from"] == [{"namespaceSelector": {"matchLabels": {"name": "monitoring"}}}]:
                wanted = {"engine": 8000, "qdrant": 6333}.get(component(policy), 9100)
                assert [p["port"] for p in rule["ports"]] == [wanted]


def test_a_service_that_is_off_has_no_arrows() -> None:
    things = render(file("values-embedded.yaml"))
    parts = {component(t) for t in of_kind(things, "NetworkPolicy")}
    assert "qdrant" not in parts
    assert not [a for a in _arrows(of_kind(things, "NetworkPolicy"), "egress", "to") if "qdrant" in a]


def test_every_pod_has_a_policy_of_its_own() -> None:
    for case in WITH_POLICIES:
        things = render(MATRIX[case])
        policies = {component(t) for t in of_kind(things, "NetworkPolicy")}
        for name, _ in pods(things):
            part = "test" if "-test-" in name else name.rsplit("-", 1)[1]
            assert part in policies


@pytest.mark.parametrize("case", WITH_POLICIES)
def test_every_block_of_addresses_is_one_that_an_api_server_takes(case: str) -> None:
    """What is excepted is a part of the block, written as it is meant.

    An IPv4 address in IPv6 notation (::ffff:0:0/96) is IPv4 to Kubernetes: it is within no IPv6 block, so the policy
    is refused, and the installation with it. On the wire it is IPv4 as well, where the rule for IPv4 holds.
    """
    for policy in of_kind(render(MATRIX[case]), "NetworkPolicy"):
        rules = [*policy["spec"].get("egress", []), *policy["spec"].get("ingress", [])]
        blocks = [
            peer["ipBlock"]
            for rule in rules
            for peer in (*rule.get("to", []), *rule.get("from", []))
            if "ipBlock" in peer
        ]
        for block in blocks:
            whole = ipaddress.ip_network(block["cidr"])
            for text in block.get("except", []):
                part = ipaddress.ip_network(text)
                assert getattr(part.network_address, "ipv4_mapped", None) is None, text
                assert part.version == whole.version, text
                assert part != whole
                assert part.subnet_of(whole), text  # type: ignore[arg-type]  # both are of one version
