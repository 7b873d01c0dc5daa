"""The report of a run as one page: matrix by metric, margins, comparison, and under each cell its items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from quelea_evaluation.endpoints.prices import NOT_KNOWN, Prices
from quelea_evaluation.omni.matrix import TASKS, Matrix
from quelea_evaluation.omni.reporting.comparison import LOWER_IS_BETTER
from quelea_evaluation.omni.scoring.judges import ASPECTS
from quelea_evaluation.reports.page import colour_of, page, table, warning
from quelea_evaluation.reports.store import Row

ITEMS_OF_A_CELL = 20
"""So many items of each cell are on the page, the worst first; all of them are in values.jsonl and answers.jsonl."""

SHOWN = (
    *(aspect.id for aspect in ASPECTS),
    "rougeL",
    "f1_token",
    "em_max",
    "map_relevant",
    "mrr",
)


_MEANS = {
    "accuracy": "judge: says what a reference says",
    "completeness": "judge: covers the reference's points",
    "utilization": "judge: rests on the documents it had",
    "hallucination": "judge: states what neither documents nor reference support",
    "numerical_accuracy": "judge: figures are right",
    "em_max": "equals a reference",
    "em_mean": "share of the references that it equals (published code)",
    "f1_token": "words shared with the best reference",
    "f1_char": "characters shared (published code)",
    "rouge1": "words shared",
    "rouge2": "pairs of words shared",
    "rougeL": "longest sequence of words shared",
    "map_relevant": "relevant passages found, and how high",
    "map_retrieved": "the same over those found alone (published code)",
    "mrr": "1 / place of the first relevant passage",
}
_FEW = 10
"""Items below which the bootstrap's interval says little."""


def render(result: Row, matrix: Matrix, items: Mapping[tuple[str, str], Sequence[Row]]) -> str:
    """The page.

    Args:
        result: As `summarize` made it, with `run` (what was run) and, compared, `comparison`.
        items: Of each cell the items to show: {"question", "answers", "answer", "passages", "values", "error"}.
    """
    run = result["run"]
    parts = [f"<h1>OmniEval: {escape(run['system'])}</h1>", _facts(result)]
    if result["unanswered"] or result["overall"]["failures"]:
        parts.append(
            warning(
                f"Of {result['questions']} questions {result['overall']['failures']} failed and "
                f"{result['unanswered']} have no answer yet. Failed ones count as 0 in EM, F1, ROUGE, ACC, COM and UTL."
            )
        )
    if not result["overall"]["n"]:
        parts.append(warning("No question has an answer: there is nothing to show."))
    if waiting := sum(one.get("unjudged", 0) for name, one in result["overall"]["metrics"].items() if "@" not in name):
        parts.append(
            warning(f"{waiting} verdicts were not given yet, so judges' means are over the rest; call `judge` again.")
        )
    parts.append(_overview(result))
    if small := sum(cell["n"] < _FEW for cell in result["cells"]):
        parts.append(
            f"<p><small>{small} of {len(result['cells'])} cells have fewer than {_FEW} items: their intervals, drawn "
            "from so few, are too narrow. Where all values are the same there is none.</small></p>"
        )
    parts += [_matrix_of(name, result, matrix) for name in SHOWN if name in result["overall"]["metrics"]]
    if comparison := result.get("comparison"):
        parts.append(_comparison(comparison))
    parts += [_spent(result), "<h2>Items</h2>"]
    parts += [_items(matrix, topic, task, shown) for (topic, task), shown in sorted(items.items())]
    return page(f"OmniEval: {run['system']}", parts)


def _facts(result: Row) -> str:
    run = result["run"]
    named = {"questions": "hash of the questions", "sessions": "sessions, one more for each resumption"}
    rows = [
        [escape(named.get(name, name)), f'<td class="text">{escape(str(value))}</td>']
        for name, value in run.items()
        if value
    ]
    return table(["what", "value"], rows)


def _spent(result: Row) -> str:
    """Tokens, and what they cost; what nobody knows is said to be not known."""
    spent = result["spent"]
    prices = Prices(currency=spent["currency"])
    rows = []
    for who, told in (("answers", spent["answers"]), *((f"judge {one}", two) for one, two in spent["judges"].items())):
        known = told["prompt_tokens"] is not None
        tokens = [f"{told[one]:,}" if known else NOT_KNOWN for one in ("prompt_tokens", "completion_tokens")]
        rows.append(
            [escape(who), *tokens, str(told["uncounted"]) if known else "all", escape(prices.write_cost(told["cost"]))]
        )
    head = ["what", "tokens read", "tokens written", "replies that counted no tokens", "cost"]
    return "<h2>What it took</h2>" + table(head, rows)


def _overview(result: Row) -> str:
    rows = []
    for name, metric in result["overall"]["metrics"].items():
        mean = "–" if metric["mean"] is None else f"{metric['mean']:.4f}"
        interval = _interval(metric, 4)
        worst = "–" if metric["mean_failed_as_worst"] is None else f"{metric['mean_failed_as_worst']:.4f}"
        counts = [str(metric[one]) for one in ("n", "failed", "not_applicable")]
        plain = name.partition("@")[0]
        better = "lower" if plain in LOWER_IS_BETTER else "higher"
        meaning = f'<td class="text">{_MEANS.get(plain, "")}</td>'
        rows.append([escape(name), meaning, mean, interval, *counts, worst, better])
    head = [
        "metric",
        '<th class="text">what it says</th>',
        "mean",
        "95 % interval",
        "n",
        "verdicts failed",
        "not applicable",
        "failed as worst",
        "better",
    ]
    return "<h2>All items</h2>" + table(head, rows)


def _matrix_of(name: str, result: Row, matrix: Matrix) -> str:
    cells = {(one["topic"], one["task"]): one for one in result["cells"]}
    known = [one.id for one in matrix.topics]
    topics = [*known, *sorted({topic for topic, _ in cells} - set(known))]
    head = ["topic", *(escape(one.name["en"]) for one in TASKS), '<th class="margin">all</th>']
    rows: list[list[str]] = []
    for topic in topics:
        label = matrix.topic(topic).label("en")
        row = [escape(label), *(_value(name, cells.get((topic, task.id)), topic, task.id) for task in TASKS)]
        rows.append([*row, _value(name, result["by_topic"].get(topic))])
    last = ["all", *(_value(name, result["by_task"].get(task.id)) for task in TASKS), _value(name, result["overall"])]
    title = f"{name}{' (lower is better)' if name in LOWER_IS_BETTER else ''}"
    return f"<h2>{escape(title)}</h2>" + table(head, [*rows, last])


def _value(name: str, cell: Row | None, topic: str = "", task: str = "") -> str:
    metric = (cell or {}).get("metrics", {}).get(name)
    if cell is None or metric is None or metric["mean"] is None:
        return f'<td class="none">{"no items" if cell is None else "–"}{_failed(cell, metric)}</td>'
    colour = colour_of(metric["mean"], lower_is_better=name in LOWER_IS_BETTER)
    shown = f"<b>{metric['mean']:.2f}</b>"
    if topic:
        shown = f'<a href="#{escape(topic)}-{escape(task)}">{shown}</a>'
    interval = _interval(metric, 2)
    return (
        f'<td style="background:{colour}">{shown}<br><small>{interval}<br>n {metric["n"]}{_failed(cell, metric)}'
        "</small></td>"
    )


def _interval(metric: Row, digits: int) -> str:
    """The ends; of values that are all the same the bootstrap knows none."""
    if metric["low"] is None:
        return "–"
    if metric["low"] == metric["high"]:
        return "all the same" if metric["n"] > 1 else "one value"
    return f"{metric['low']:.{digits}f} – {metric['high']:.{digits}f}"


def _failed(cell: Row | None, metric: Row | None) -> str:
    parts = [f"{cell['failures']} failed"] if cell and cell["failures"] else []
    parts += [f"{metric['failed']} verdicts failed"] if metric and metric["failed"] else []
    parts += [f"{metric['not_applicable']} not applicable"] if metric and metric["not_applicable"] else []
    return f"<br>{', '.join(parts)}" if parts else ""


def _comparison(comparison: Row) -> str:
    rows = []
    for group in comparison["groups"]:
        for name, one in group["metrics"].items():
            label = " ".join(part for part in (group["by"], group["name"]) if part)
            numbers = [f"{one[field]:.4f}" for field in ("first", "second", "difference")]
            interval = f"{one['low']:+.4f} – {one['high']:+.4f}"
            rows.append([escape(label), escape(name), str(one["n"]), *numbers, interval, f"{one['p']:.4f}"])
    head = ["over", "metric", "pairs", "before", "this run", "difference", "95 % interval", "p"]
    counts = (
        f"<p>{comparison['items']} items in both; {comparison['only_in_first']} only in "
        f"{escape(str(comparison.get('against', 'the other')))}, {comparison['only_in_second']} only here. "
        "The test is the sign-flip permutation over pairs; nothing is corrected for many comparisons.</p>"
    )
    return "<h2>Beside another run</h2>" + counts + table(head, rows)


def _items(matrix: Matrix, topic: str, task: str, items: Iterable[Row]) -> str:
    name = next((one.name["en"] for one in TASKS if one.id == task), task)
    shown = "".join(_item(one) for one in items)
    title = f"{matrix.topic(topic).label('en')} · {name}"
    anchor = f"{escape(topic)}-{escape(task)}"
    # The anchor is inside, so that a browser that follows a cell's link opens the box.
    return f'<details><summary>{escape(title)}</summary><div id="{anchor}">{shown}</div></details>'


def _item(item: Row) -> str:
    values = ", ".join(
        f"{name} {told['value']:.2f}"
        for name in SHOWN
        if (told := item["values"].get(name)) and told["value"] is not None
    )
    parts = [f"<small>{escape(item['id'])} · {escape(values)}</small>"]
    for turn in item["turns"]:
        parts.append(f"<pre><b>{escape(turn['question'])}</b></pre>")
        parts.append(f"<pre><small>reference</small> {escape(' / '.join(turn['answers']))}</pre>")
        parts.append(f"<pre><small>answer</small> {escape(turn['answer'])}</pre>")
    if item.get("error"):
        parts.append(warning(f"failed: {item['error']}"))
    if item["evidence"]:
        evidence = "".join(f"<pre>{escape(one)}</pre>" for one in item["evidence"])
        parts.append(f"<details><summary>evidence</summary>{evidence}</details>")
    if item["verdicts"]:
        said = "".join(f"<pre>{escape(one)}</pre>" for one in item["verdicts"])
        parts.append(f"<details><summary>verdicts</summary>{said}</details>")
    return f"<article>{''.join(parts)}</article>"
