"""The report of a run of questions as one page: the shares, what a run took, every question with its answer."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from quelea_evaluation.reports.page import colour_of, page, table, warning
from quelea_evaluation.reports.store import Row

_MEANS = {
    "right": "every point of the key is met",
    "met": "points of the key that are met",
    "grounded": "answers without a figure that has no source",
}
_TOOK = {
    "steps": "steps",
    "model_calls": "calls of the model",
    "prompt_tokens": "tokens read",
    "completion_tokens": "tokens written",
    "calls": "calls of data providers",
    "repairs": "answers asked for again",
    "seconds": "seconds",
}


def render(result: Row, scored: Sequence[Row]) -> str:
    """The page of a result, as `report` made it, and of its questions, those that are not right first."""
    overall = result["overall"]
    parts = ["<h1>Questions for the agent</h1>", _facts(result["run"])]
    if overall["asked"] < overall["questions"]:
        parts.append(
            warning(f"{overall['questions'] - overall['asked']} questions were not asked yet: call run again.")
        )
    if overall["failed"]:
        parts.append(warning(f"{overall['failed']} runs failed. They count as not right."))
    if overall["not judged"]:
        parts.append(warning(f"{overall['not judged']} answers wait for a judge: quelea eval agent judge."))
    groups = [("all", overall), *result["kinds"].items()]
    head = ["questions", "asked", "failed", *(f'<th title="{escape(_MEANS[one])}">{one}</th>' for one in _MEANS)]
    rows = [
        [escape(kind), str(one["asked"]), str(one["failed"]), *(_share(one[name]) for name in _MEANS)]
        for kind, one in groups
    ]
    meanings = "; ".join(f"<b>{name}</b>: {escape(means)}" for name, means in _MEANS.items())
    parts += ["<h2>Shares</h2>", table(head, rows), f"<p><small>{meanings}. In brackets the 95 % interval.</small></p>"]
    took = [[escape(kind), *(_number(one["each"].get(name)) for name in _TOOK)] for kind, one in groups]
    parts += ["<h2>What a run took, on average</h2>", table(["questions", *_TOOK.values()], took)]
    parts.append("<h2>Questions</h2>")
    parts += [_item(one) for one in sorted(scored, key=lambda one: (bool(one.get("right")), one["kind"], one["id"]))]
    return page("Questions for the agent", parts)


def _facts(run: Row) -> str:
    rows = [[escape(name), f'<td class="text">{escape(str(value))}</td>'] for name, value in run.items() if value]
    return table(["what", '<th class="text">value</th>'], rows)


def _share(share: Row | None) -> str:
    if share is None:
        return '<td class="none">–</td>'
    colour = colour_of(share["mean"], lower_is_better=False)
    interval = f"<small>({share['low']:.2f} to {share['high']:.2f})</small>"
    return f'<td style="background:{colour}">{share["mean"]:.2f} {interval}</td>'


def _number(value: float | None) -> str:
    return '<td class="none">–</td>' if value is None else f"{value:,.1f}"


def _item(one: Row) -> str:
    if one["state"] == "not asked":
        return ""
    verdict = {True: "right", False: "not right", None: "not judged"}[one["right"]]
    points = one["points"]
    met = f", {sum(points)} of {len(points)} points" if points else ""
    lines = [f"<pre>{escape(one['answer'] or one['error'] or 'no answer')}</pre>"]
    lines += [f"<p><small>missing: {escape(each)}</small></p>" for each in one["missing"]]
    if one["grounded"] is False:
        lines.append("<p><small>has figures without a source</small></p>")
    usage = ", ".join(f"{_TOOK[name]} {one['usage'][name]}" for name in _TOOK if one["usage"].get(name) is not None)
    lines.append(f"<p><small>run {escape(one['run'] or '–')}: {escape(usage)}</small></p>")
    head = f"{escape(verdict)}{met} · {escape(one['kind'])} · {escape(one['question'])}"
    return f"<details><summary>{head}</summary><article>{''.join(lines)}</article></details>"
