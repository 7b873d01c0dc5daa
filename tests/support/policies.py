"""Who may call whom in a rendered release, by its NetworkPolicies."""

from __future__ import annotations

from support.chart_render import Object, component, of_kind


def callers(things: list[Object]) -> dict[str, set[str]]:
    """Of each component those who may call it: the policies of both sides must say so."""
    policies = {component(t): t["spec"] for t in of_kind(things, "NetworkPolicy")}

    def named(rules: list[Object], side: str) -> set[str]:
        if any(side not in rule for rule in rules):  # whoever it is
            return set(policies)
        peers = [peer for rule in rules for peer in rule[side]]
        own = [peer for peer in peers if "podSelector" in peer and "namespaceSelector" not in peer]
        labels = [peer["podSelector"]["matchLabels"] for peer in own]
        return {one["app.kubernetes.io/component"] for one in labels}

    may_call = {name: named(spec.get("egress", []), "to") for name, spec in policies.items()}
    may_be_called = {name: named(spec.get("ingress", []), "from") for name, spec in policies.items()}
    return {name: {who for who in may_be_called[name] if name in may_call[who]} for name in policies if name != "deny"}
