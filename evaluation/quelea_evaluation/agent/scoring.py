"""What a run's answer is worth: against its key by figures and words, or by a judge's verdicts on a rubric."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from quelea_checker.reading.wording import find_direction, find_level_sign
from quelea_fintext.quantities import SCALES
from quelea_fintext.text import normalise

from quelea_evaluation.agent.questions import AgentQuestion, Figure
from quelea_evaluation.metrics.intervals import mean_interval
from quelea_evaluation.reports.store import Row

_NUMBER = re.compile(r"(?<![\d.])(\d{1,3}(?:,\d{3})++(?:\.\d+)?|\d+(?:\.\d+)?)")
_WORD = re.compile(r"[ -]?([a-z]+|[十百千万亿]{1,2})", re.IGNORECASE)
"""Behind a number: perhaps its scale."""
_PERCENT = re.compile(r"%|\bper ?cent|\bpp\b|percentage|百分", re.IGNORECASE)
_SHARE_SIGN = r"\s?(?:%|per ?cent|percentage points?|points\b|pp\b|个?百分点)"
_PERCENT_NEXT = re.compile(_SHARE_SIGN, re.IGNORECASE)
_PERCENT_BEHIND = re.compile(
    r"(?:\s{0,3}(?:,|and|or|to|vs\.?|from|against|–|-|和|与|至|、|及)\s{0,3}[-−]?\d+(?:\.\d+)?){0,5}+" + _SHARE_SIGN,
    re.IGNORECASE,
)
_MINUS = re.compile(r"(?<![0-9A-Za-z])[-−–]\s?(?:US|HK)?[$€£¥]?\s?\Z|(?:负|\b(?:minus|negative) )(?:US|HK)?[$€£¥]?\Z")
_BRACKET = re.compile(r"\((?:US|HK)?[$€£¥]?\s?\Z")
_BRACKET_BEHIND = re.compile(r"\s?%?\)")
_SENTENCE_END = re.compile(r"[.!?]\s|[。！？\n]")
_MARKER = re.compile(r"\[\d+\]")
_SCALES = tuple(Decimal(10) ** power for power in (0, 3, 4, 6, 8, 9))
"""Of a number without a word of its own: as written, in thousands, 万, millions, 亿, billions."""
_LEAST_DIGITS = 3
"""Of a figure as stated: a rounder one would be met by luck. Of a percentage two, which is how they are written."""


def states(text: str, figure: Figure) -> bool:
    """The figure stands in the text, at the scale that is written there or at any, rounded as it is written.

    A share is said to be one (%, percent, 百分之), and no amount is. Below nought it has a minus or brackets, or its
    words say so ("a net loss of", "fell by"); above nought it has no minus.
    """
    least = min(2 if figure.is_percent else _LEAST_DIGITS, _digits(figure.value))
    size = abs(figure.value)
    plain = _MARKER.sub(" ", normalise(text))
    for match in _NUMBER.finditer(plain):
        said = Decimal(match[1].replace(",", ""))
        if _digits(said) < least or _is_share(plain, match) is not figure.is_percent:
            continue
        if not _has_sign(plain, match, negative=figure.value < 0):
            continue
        word = _WORD.match(plain, match.end())
        written = SCALES.get(word[1].lower()) if word else None
        if written and figure.is_percent:
            continue
        scales = (Decimal(written),) if written else _SCALES[:1] if figure.is_percent else _SCALES
        step = Decimal(1).scaleb(min(0, int(said.as_tuple().exponent)))
        if any(said == (size / scale).quantize(step, ROUND_HALF_UP) for scale in scales):
            return True
    return False


def _is_share(text: str, number: re.Match[str]) -> bool:
    """A percentage: behind the number or a list of numbers, before it, or in its row or the head of its table."""
    if "," in number[1]:  # an amount in front of a percentage is no list of percentages
        return bool(_PERCENT_NEXT.match(text, number.end()))
    if _PERCENT_BEHIND.match(text, number.end()) or text[: number.start()].endswith("百分之"):
        return True
    start, end = text.rfind("\n", 0, number.start()) + 1, (text + "\n").find("\n", number.end())
    if not text[start:end].lstrip().startswith("|"):
        return False
    cell = text.count("|", start, number.start())
    label = text[start:end].split("|")[1:2]
    head = _head_of_table(text, start).split("|")[cell : cell + 1]
    return any(_PERCENT.search(part) for part in label + head)


def _head_of_table(text: str, start: int) -> str:
    """The first line of the Markdown table that the line is in which begins there."""
    head = ""
    for line in reversed(text[:start].splitlines()):
        if not line.lstrip().startswith("|"):
            break
        head = line
    return head


def _has_sign(text: str, number: re.Match[str], *, negative: bool) -> bool:
    before, behind = text[: number.start()], text[number.end() :]
    minus = bool(_MINUS.search(before)) or bool(_BRACKET.search(before) and _BRACKET_BEHIND.match(behind))
    if minus or not negative:
        return minus is negative
    sentence = _SENTENCE_END.split(before)[-1]
    at = len(sentence)
    around = f"{sentence}{number[0]}{_SENTENCE_END.split(behind)[0]}"
    return find_level_sign(sentence) < 0 or find_direction(around, at, at + len(number[0])) < 0


def _digits(value: Decimal) -> int:
    return len(str(abs(value)).replace(".", "").strip("0")) or 1


def points_of(question: AgentQuestion, row: Row, verdicts: Sequence[bool] | None = None) -> list[bool] | None:
    """What of the key is met, point by point; None: it takes a judge who has not judged it yet."""
    answer = row.get("answer") or {}
    text = str(answer.get("text", ""))
    if question.absent:
        return [bool(answer) and not answer.get("complete", True)]
    if question.rubric:
        if not text:
            return [False] * len(question.rubric)
        return None if verdicts is None else list(verdicts)
    folded = _fold(text)
    met = [states(text, figure) for figure in question.figures]
    return met + [any(_fold(wording) in folded for wording in wordings) for wordings in question.says]


def _fold(text: str) -> str:
    return " ".join(normalise(_MARKER.sub(" ", text)).lower().split())


def score(question: AgentQuestion, row: Row | None, verdicts: Sequence[bool] | None = None) -> Row:
    """A question's line of the result; without a row it was not asked yet."""
    values: Row = {"id": question.id, "kind": question.kind, "question": question.text}
    if row is None:
        return {**values, "state": "not asked"}
    answer, points = row.get("answer") or {}, points_of(question, row, verdicts)
    return {
        **values,
        "state": row.get("state", "failed"),
        "error": row.get("error", ""),
        "run": row.get("run", ""),
        "answer": answer.get("text", ""),
        "missing": answer.get("missing", []),
        "points": points,
        "right": None if points is None else all(points),
        "met": None if points is None else sum(points) / len(points),
        "grounded": bool(answer.get("grounded")) if answer else None,
        "ended_by": answer.get("ended_by", ""),
        "usage": row.get("usage") or {},
    }


def summarize(scored: Iterable[Row]) -> Row:
    """The whole and each kind: shares with their 95 % intervals, and what a run took on average.

    A run that failed is not right. What no judge has judged yet is counted apart.
    """
    kinds: dict[str, list[Row]] = defaultdict(list)
    for one in scored:
        kinds[one["kind"]].append(one)
    every = [one for group in kinds.values() for one in group]
    return {"overall": _summary(every), "kinds": {kind: _summary(group) for kind, group in sorted(kinds.items())}}


def _summary(scored: Sequence[Row]) -> Row:
    asked = [one for one in scored if one["state"] != "not asked"]
    judged = [one for one in asked if one["right"] is not None]
    answered = [one for one in asked if one["grounded"] is not None]
    return {
        "questions": len(scored),
        "asked": len(asked),
        "failed": sum(bool(one["error"]) for one in asked),
        "not judged": len(asked) - len(judged),
        "right": _share([one["right"] for one in judged]),
        "met": _share([one["met"] for one in judged]),
        "grounded": _share([one["grounded"] for one in answered]),
        "each": _means([one["usage"] for one in asked if one["usage"]]),
    }


def _share(values: Sequence[float]) -> Row | None:
    found = mean_interval([float(one) for one in values])
    if found is None:
        return None
    return {"n": found.n, "mean": found.mean, "low": found.low, "high": found.high}


def _means(usages: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    names = ("steps", "model_calls", "prompt_tokens", "completion_tokens", "calls", "repairs", "seconds")
    known = {name: [one[name] for one in usages if one.get(name) is not None] for name in names}
    return {name: round(sum(values) / len(values), 2) for name, values in known.items() if values}
