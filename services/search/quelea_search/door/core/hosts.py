"""The allow-list: which hosts code may reach, how often, and how long their answers stay fresh."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

from quelea_search.core.web.urls import DEFAULT_PORTS, WebUrl, host_matches

DEFAULT_CLASS = "page"


@dataclass(frozen=True, slots=True)
class HostRule:
    """A pattern ("eastmoney.com" covers its subdomains) and what holds for its hosts together."""

    pattern: str
    per_minute: int = 60
    """Calls to the upstream; the cache's answers do not count."""
    concurrent: int = 4
    burst: int = 0
    """Calls that may come at once; 0: a sixth of those of a minute."""
    fresh_seconds: float = 300.0
    """How long an answer is given again without asking the upstream."""
    user_agent: str = ""
    """Replaces the code's own; empty: the code's own, or the door's."""
    ports: tuple[int, ...] = ()
    """Beside 80 and 443."""


class HostTable:
    """All rules; the longest pattern that matches a host is its rule."""

    def __init__(self, rules: Iterable[HostRule]) -> None:
        self.rules = tuple(sorted(rules, key=lambda rule: (-len(rule.pattern), rule.pattern)))

    def find(self, url: WebUrl) -> HostRule | None:
        """The rule of an address; None: not allowed."""
        for rule in self.rules:
            if host_matches(url.host, (rule.pattern,)):
                return rule if url.port in {*DEFAULT_PORTS.values(), *rule.ports} else None
        return None

    def covers(self, domain: str) -> bool:
        """Whether a whole domain lies within the list, so that a cookie may be set for it."""
        return any(host_matches(domain, (rule.pattern,)) for rule in self.rules)


def default_rules() -> list[HostRule]:
    """The rules of hosts.json beside this package."""
    data = json.loads(files("quelea_search.door").joinpath("hosts.json").read_text("utf-8"))
    return rules_from(data)


def rules_from(data: Mapping[str, Any]) -> list[HostRule]:
    """The rules of a parsed hosts.json."""
    classes: Mapping[str, Mapping[str, Any]] = data["classes"]
    return [_rule(entry, classes) for entry in data["hosts"]]


def _rule(entry: Mapping[str, Any], classes: Mapping[str, Mapping[str, Any]]) -> HostRule:
    own = {name: value for name, value in entry.items() if name in HostRule.__slots__}
    shared = {name: value for name, value in classes[entry.get("class", DEFAULT_CLASS)].items() if name != "about"}
    merged = {**shared, **own}
    return HostRule(**{**merged, "ports": tuple(merged.get("ports", ()))})


def table(
    patterns: Sequence[str],
    extra: Sequence[str],
    *,
    per_minute: Mapping[str, int],
    fresh_seconds: Mapping[str, float],
    user_agents: Mapping[str, str],
) -> HostTable:
    """The rules that hold: the list that the package brings, or the operator's, with the operator's numbers.

    Args:
        patterns: Instead of the package's list; empty: the package's list.
        extra: Beside it.
        per_minute: Pattern -> calls.
        fresh_seconds: Pattern -> seconds.
        user_agents: Pattern -> User-Agent.
    """
    known = {rule.pattern: rule for rule in default_rules()}
    rules: dict[str, HostRule] = {}
    for pattern in [*([_normal(each) for each in patterns] or known), *map(_normal, extra)]:
        rules[pattern] = known.get(pattern) or replace(_nearest(pattern, known), pattern=pattern)
    for pattern in map(_normal, (*per_minute, *fresh_seconds, *user_agents)):
        # A number for a part of an allowed host splits it off; one for a host that is not on the list opens nothing.
        if pattern not in rules and any(host_matches(pattern, (each,)) for each in rules):
            rules[pattern] = replace(_nearest(pattern, rules), pattern=pattern)
    calls, fresh, agents = (_normalise(values) for values in (per_minute, fresh_seconds, user_agents))
    return HostTable(
        replace(
            rule,
            per_minute=int(calls.get(pattern, rule.per_minute)),
            fresh_seconds=float(fresh.get(pattern, rule.fresh_seconds)),
            user_agent=str(agents.get(pattern, rule.user_agent)),
        )
        for pattern, rule in rules.items()
    )


def _normalise(values: Mapping[str, Any]) -> dict[str, Any]:
    return {_normal(pattern): value for pattern, value in values.items()}


def _normal(pattern: str) -> str:
    return pattern.strip().lower().removeprefix("*").strip(".")


def _nearest(pattern: str, known: Mapping[str, HostRule]) -> HostRule:
    fits = [rule for rule in known.values() if host_matches(pattern, (rule.pattern,))]
    return max(fits, key=lambda rule: len(rule.pattern)) if fits else HostRule(pattern)
