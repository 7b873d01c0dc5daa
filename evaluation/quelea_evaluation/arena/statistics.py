"""How a run went: failures, what it took, and how steady the judge was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from quelea_evaluation.arena.arena_folder import Arena
from quelea_evaluation.endpoints.prices import Prices
from quelea_evaluation.reports.store import Row, read_manifest

_SUMS = ("calls", "prompt_tokens", "completion_tokens", "total_tokens", "uncounted_calls")


def describe_dialogues(lines: Iterable[Row]) -> dict[str, Any]:
    """Dialogues of one system: how they ended, rounds, tokens of all calls, time."""
    statuses, ends = Counter[str](), Counter[str]()
    usage: dict[str, Counter[str]] = {"user": Counter(), "system": Counter()}
    rounds = cut = people = 0
    milliseconds = 0.0
    for line in lines:
        statuses[line["status"]] += 1
        ends[line["ended_by"]] += 1
        rounds += line["rounds"]
        people += "rater" in line
        milliseconds += line["milliseconds"]
        cut += any(turn.get("finish_reason") == "length" for turn in line["turns"])
        for who, sums in usage.items():
            sums.update({name: line["usage"][who][name] for name in _SUMS})
    return {
        "statuses": dict(sorted(statuses.items())),
        "ended_by": dict(sorted(ends.items())),
        "rounds": rounds,
        "dialogues_with_a_cut_reply": cut,
        "held_by_people": people,
        "usage": {who: {name: sums[name] for name in _SUMS} for who, sums in usage.items()},
        "seconds": round(milliseconds / 1000, 1),
    }


def describe_judgements(lines: Iterable[Row]) -> dict[str, Any]:
    """Judgements of one judge: failures, and whether a place was preferred.

    Returns:
        `disagreed` counts pairs that were judged otherwise in the other order; `first_place` is the share of verdicts
        for whoever was shown first, ties left out: 0.5 where places do not matter.
    """
    statuses, errors, usage = Counter[str](), Counter[str](), Counter[str]()
    disagreed = first = second = 0
    for line in lines:
        statuses[line["status"]] += 1
        if line["status"] == "failed":
            errors[line["error"]] += 1
        disagreed += bool(line["disagreed"])
        first += sum(verdict["verdict"] == 1 for verdict in line["verdicts"])
        second += sum(verdict["verdict"] == 2 for verdict in line["verdicts"])
        usage.update({name: line["usage"][name] for name in _SUMS})
    return {
        "statuses": dict(sorted(statuses.items())),
        "errors": dict(errors.most_common(10)),
        "disagreed": disagreed,
        "first_place": first / (first + second) if first + second else None,
        "usage": {name: usage[name] for name in _SUMS},
    }


def describe_arena(arena: Arena, judge: str, prices: Prices | None = None) -> dict[str, Any]:
    """Both, for all systems and one judge, with the `cost` of each one's calls (None: not known)."""
    known = prices or Prices()
    judgements = describe_judgements(arena.judgements(judge).latest())
    told = read_manifest(arena.judge_folder(judge))["settings"]
    judgements["usage"]["cost"] = _cost(judgements["usage"], told.get("judge"), known)
    dialogues = {name: describe_dialogues(arena.dialogues(name).latest()) for name in arena.systems}
    for name, one in dialogues.items():
        told = read_manifest(arena.system_folder(name))["settings"]
        for who in ("user", "system"):
            one["usage"][who]["cost"] = _cost(one["usage"][who], told.get(who), known)
    return {
        "judge": judge,
        "commits": _commits(arena, judge),
        "currency": known.currency,
        "judgements": judgements,
        "dialogues": dialogues,
    }


def _cost(usage: Mapping[str, int], address: str | None, prices: Prices) -> float | None:
    """Of the calls to an address, MODEL@URL; not known where some told no tokens."""
    if usage["uncounted_calls"] or not usage["calls"]:
        return None
    model = str(address or "").rpartition("@")[0]
    return prices.cost(model, usage["prompt_tokens"], usage["completion_tokens"])


def _commits(arena: Arena, judge: str) -> list[str]:
    """Of the code that held and judged the dialogues, each once."""
    runs = [*map(arena.system_folder, arena.systems), arena.judge_folder(judge)]
    sessions = [one for folder in runs for one in read_manifest(folder)["sessions"]]
    return list(dict.fromkeys(one["commit"][:12] for one in sessions if one["commit"]))


def failure_notices(run: Mapping[str, Any]) -> list[str]:
    """What ratings do not say: dialogues and judgements that failed, a judge that prefers a place."""
    notices = []
    for system, told in run["dialogues"].items():
        if people := told.get("held_by_people", 0):
            notices.append(f"{people} of {sum(told['statuses'].values())} dialogues with {system} were held by people.")
        if failed := told["statuses"].get("failed", 0):
            total = sum(told["statuses"].values())
            notices.append(f"{failed} of {total} dialogues of {system} failed; their items gave no game.")
    statuses = run["judgements"]["statuses"]
    total = sum(statuses.values())
    for status, what in (("failed", "judgements failed"), ("missing", "comparisons lacked a dialogue")):
        if count := statuses.get(status, 0):
            notices.append(f"{count} of {total} {what}; they count for nobody.")
    judged, disagreed = statuses.get("judged", 0), run["judgements"]["disagreed"]
    if disagreed:
        notices.append(f"{disagreed} of {judged} pairs were judged otherwise in the other order; they count as ties.")
    return notices
