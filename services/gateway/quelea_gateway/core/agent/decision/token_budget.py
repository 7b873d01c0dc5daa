"""Prompts and memory made to fit a token budget."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from quelea_fintext.text import estimate_tokens, terms

LEFT_OUT = "\n... ({count} characters left out) ...\n"
_TAG = re.compile(r"[<＜﹤〈](?=\s*[/／!|<＜﹤〈A-Za-z_])")
_TURN = re.compile(r"\[(?=\s{0,8}+/?\s{0,8}+(?:INST|SYS)\b)", re.IGNORECASE)
_BLANK = re.compile(r"[ \t]{9,}|\n{4,}|[^\S\n]+(?=\n)")
_LONGEST = 60_000


def tokens(text: str) -> int:
    """About how many tokens a model reads; blanks cost too, which tables have many of."""
    return estimate_tokens(text) + len(re.findall(r"\s", text)) // 6


def defuse(text: str) -> str:
    """Text from outside without what could close a fence or open a turn of the conversation."""
    return _TURN.sub("［", _TAG.sub("‹", text))


def squeeze(text: str) -> str:
    """The text with its runs of blanks shortened."""
    return _BLANK.sub(lambda match: "\n\n" if "\n" in match[0] else ("        " if match[0] else ""), text)


def cut_middle(text: str, budget: int) -> str:
    """The head and the tail of a text that fit a budget of tokens: what begins and what ends it says most."""
    if budget <= 0:
        return ""
    if len(text) > _LONGEST:
        text = text[: _LONGEST // 2] + LEFT_OUT.format(count=len(text) - _LONGEST) + text[-_LONGEST // 2 :]
    text = squeeze(text)
    cost = tokens(text)
    if cost <= budget:
        return text
    keep = int(len(text) * budget / cost * 0.95)
    while keep > 20:
        head, tail = text[: keep * 2 // 3], text[len(text) - keep // 3 :]
        piece = head + LEFT_OUT.format(count=len(text) - keep) + tail
        if tokens(piece) <= budget:
            return piece
        keep = int(keep * 0.85)
    return text[:budget]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a prompt that may be cut.

    Attributes:
        weight: Its share of the room when there is too little for all.
    """

    name: str
    text: str
    weight: float = 1.0


def share(sections: Sequence[Section], budget: int) -> dict[str, str]:
    """The sections, cut so that together they fit; what one does not need, the others may have."""
    costs = {one.name: tokens(one.text) for one in sections}
    left, open_ = max(0, budget), list(sections)
    granted: dict[str, int] = {}
    while open_:
        weight = sum(one.weight for one in open_)
        small = [one for one in open_ if costs[one.name] <= left * one.weight / weight]
        if not small:
            for one in open_:
                granted[one.name] = int(left * one.weight / weight)
            break
        for one in small:
            granted[one.name] = costs[one.name]
        left -= sum(costs[one.name] for one in small)
        open_ = [one for one in open_ if one not in small]
    return {
        one.name: one.text if granted[one.name] >= costs[one.name] else cut_middle(one.text, granted[one.name])
        for one in sections
    }


def recall(insights: Sequence[str], about: str, budget: int) -> list[str]:
    """The insights that fit, in their order; the least relevant and the oldest are dropped whole."""
    wanted = set(terms(about))
    shared = [len(wanted & set(terms(insight))) for insight in insights]
    most = max(shared, default=0) or 1
    ranked = sorted(range(len(insights)), key=lambda i: shared[i] / most + 0.5 * i / (len(insights) + 1), reverse=True)
    kept = []
    for index in ranked:
        cost = tokens(insights[index]) + 2
        if cost <= budget:
            kept.append(index)
            budget -= cost
    return [insights[index] for index in sorted(kept)]
