"""A verifier on sentences by other authors, beside the checker's rules and on top of them.

TAT-QA's and ConvFinQA's answers, true and corrupted, are what `quelea eval figures` measures the rules on. Two more
kinds are about what rules say nothing of: TAT-QA's answers in words, beside the answer of another question about the
same page; and sentences that are made of the held-out documents of the folders of pairs, changed as in training.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from quelea_evaluation.figures.checks import judge
from quelea_evaluation.figures.corruption import corrupt
from quelea_evaluation.figures.items import Item, convfinqa, half_of, tatqa
from quelea_evaluation.figures.process import checking_process
from quelea_fintext.text import terms
from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped]  # no stubs are published

from quelea_training.verifier.examples import FALSE, SUPPORTED, Example
from quelea_training.verifier.recipe import Scores

Score = Callable[[Sequence[tuple[str, str]]], Scores]
WORDS = "tatqa, answers in words"
MADE = "made of held-out documents"
OWN = (MADE,)
"""Groups whose false sentences are made as those of training are: they prove nothing about other authors."""
_PASSAGES = 8
"""Passages that a sentence is compared with, and the probability from which a label counts, as in the gateway's
CrossEncoderVerifier."""
_LEAST = 0.5
_ALL = "all"
_ENOUGH = 20
"""Fewer false answers are no kind of their own."""


@dataclass(frozen=True)
class Judged:
    """What rules and verifier say of an answer."""

    item: Item
    flagged: bool
    """By the rules: a figure is doubted."""
    doubt: float
    """By the verifier: the largest probability of a contradiction less the largest of an entailment, -1 to 1."""
    contradicted: bool
    """By the verifier as it is served."""


def public_items(data: Path, most: int, seed: int) -> list[Item]:
    """True answers of TAT-QA's frozen quarter and of ConvFinQA, and TAT-QA's answers in words.

    None where the sets are not below `data`.

    Args:
        data: Folder of the data sets.
        most: True answers of each group, at most.
        seed: Of the choice.
    """
    if not (data / "tatqa").is_dir() or not (data / "convfinqa").is_dir():
        return []
    groups: dict[str, list[Item]] = {}
    for one in (*(item for item in tatqa(data) if item.half == "frozen"), *convfinqa(data), *_in_words(data, seed)):
        groups.setdefault(one.group, []).append(one)
    chance = Random(seed)  # noqa: S311  # a seeded choice, no secret
    return [one for name in sorted(groups) for one in chance.sample(groups[name], min(most, len(groups[name])))]


def all_tested(data: Path) -> list[str]:
    """Texts of all passages that `public_items` may choose answers of, each once."""
    return list(dict.fromkeys(p["text"] for one in public_items(data, 1_000_000, 0) for p in one.passages))


def _in_words(data: Path, seed: int) -> list[Item]:
    """TAT-QA's answers without figures, behind their questions. `table` holds the answer of another question."""
    contexts = json.loads((data / "tatqa" / "tatqa_dataset_dev.json").read_text(encoding="utf-8"))
    found = []
    for number, context in enumerate(contexts):
        if half_of(f"tatqa-{number}") != "frozen":
            continue
        rows = ["\t".join(cell.strip() for cell in row if cell.strip()) for row in context["table"]["table"]]
        ordered = sorted(context["paragraphs"], key=lambda one: one["order"])
        passages = ({"text": "\n".join(filter(None, rows))}, *({"text": one["text"]} for one in ordered))
        asked = [one for one in context["questions"] if one["answer_type"] in ("span", "multi-span")]
        for one in asked:
            own = _said(one)
            others = [said for other in asked if (said := _said(other)) != own and not _overlap(said, own)]
            if any(c.isdigit() for c in own) or not others:
                continue
            question = one["question"].strip()
            wrong = Random(f"{seed} {one['uid']}").choice(sorted(others))  # noqa: S311  # see above
            found.append(
                Item(
                    id=f"{one['uid']} words",
                    group=WORDS,
                    half="frozen",
                    question=question,
                    answer=f"{question} {own}",
                    passages=passages,
                    table=((f"{question} {wrong}",),),
                )
            )
    return found


def _said(question: Mapping[str, Any]) -> str:
    given = question["answer"] if isinstance(question["answer"], list) else [question["answer"]]
    return ", ".join(str(one).strip() for one in given if str(one).strip())


def _overlap(one: str, other: str) -> bool:
    return one.casefold() in other.casefold() or other.casefold() in one.casefold()


def false_ones(item: Item) -> list[Item]:
    """An item made false, one of each way that is possible."""
    if item.group == WORDS:
        return [replace(item, id=f"{item.id} other", answer=item.table[0][0], corruption="another answer")]
    return list(corrupt(item))


def own_items(examples: Sequence[Example]) -> list[Item]:
    """Examples of held-out documents as items; those that say nothing of their sentence are no part of it."""
    return [
        Item(
            id=f"made {at}",
            group=MADE,
            half="frozen",
            question="",
            answer=one.sentence,
            passages=({"text": one.premise},),
            corruption=one.kind if one.label == FALSE else "",
        )
        for at, one in enumerate(examples)
        if one.label in (SUPPORTED, FALSE)
    ]


def prove(items: Sequence[Item], score: Score, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """A row for each group and kind of falsehood: how well rules and verifier tell true from false.

    Args:
        items: True and false ones; one at least.
        score: The verifier.
        say: Takes lines about the work.
    """
    say(f"{len(items)} answers to judge, by the rules")
    with checking_process() as post:
        flagged = [
            judge(one, post({"answer": one.answer, "passages": list(one.passages), "question": one.question})).flagged
            for one in items
        ]
    asked = [(at, pair) for at, one in enumerate(items) for pair in _pairs(one)]
    say(f"and by the verifier, as {len(asked)} pairs of passage and sentence")
    scores = score([pair for _, pair in asked])
    owners = np.array([at for at, _ in asked])
    judged = []
    for at, one in enumerate(items):
        entailed, _, contradicted = scores[owners == at].max(axis=0)
        served = entailed <= _LEAST < contradicted
        judged.append(Judged(one, bool(flagged[at]), float(contradicted - entailed), bool(served)))
    return _rows(judged)


def _pairs(item: Item) -> list[tuple[str, str]]:
    """The passages that share most words with the answer, each with it, as the gateway's verifier asks."""
    texts = ["\n".join(filter(None, (p.get("header"), p.get("table_head"), p["text"]))) for p in item.passages]
    said = set(terms(item.answer))
    nearest = sorted(texts, key=lambda text: -len(said & set(terms(text))))
    return [(text, item.answer) for text in nearest[:_PASSAGES] if text.strip()]


def _rows(judged: Sequence[Judged]) -> list[dict[str, Any]]:
    rows = []
    for group in sorted({one.item.group for one in judged}):
        mine = [one for one in judged if one.item.group == group]
        true = [one for one in mine if not one.item.corruption]
        kinds = sorted({one.item.corruption for one in mine} - {""})
        for kind in (_ALL, *kinds):
            false = [one for one in mine if one.item.corruption and kind in (_ALL, one.item.corruption)]
            if true and false and (kind == _ALL or len(false) >= _ENOUGH):
                rows.append({"group": group, "kind": kind, **_measure(true, false)})
    return rows


def _measure(true: Sequence[Judged], false: Sequence[Judged]) -> dict[str, float]:
    """Caught: of the false ones; flagged: of the true ones; shares from 0 to 1."""
    labels = [0] * len(true) + [1] * len(false)
    rate = float(np.mean([one.flagged for one in true]))
    doubts = sorted((one.doubt for one in true), reverse=True)
    least = doubts[min(round(rate * len(true)), len(true) - 1)]  # above it are as many true ones as the rules flag

    def share(of: Sequence[Judged], says: Callable[[Judged], bool]) -> float:
        return float(np.mean([says(one) for one in of]))

    return {
        "true": len(true),
        "false": len(false),
        "auc": float(roc_auc_score(labels, [one.doubt for one in (*true, *false)])),
        "rules_caught": share(false, lambda one: one.flagged),
        "rules_flagged": rate,
        "caught_at_that_rate": share(false, lambda one: one.doubt > least),
        "served_caught": share(false, lambda one: one.contradicted),
        "served_flagged": share(true, lambda one: one.contradicted),
        "both_caught": share(false, lambda one: one.flagged or one.contradicted),
        "both_flagged": share(true, lambda one: one.flagged or one.contradicted),
    }


def verdict(rows: Sequence[Mapping[str, Any]]) -> str:
    """Whether it may be taken up, by the groups of other authors: it must catch more than it flags there, in each."""
    others = [row for row in rows if row["kind"] == _ALL and row["group"] not in OWN]
    if not others:
        return "untested: no sentence by other authors was there; do not take it up before it is tested"
    lost = [
        f"{row['group']} (caught {row['both_caught'] - row['rules_caught']:+.3f}, "
        f"flagged though true {row['both_flagged'] - row['rules_flagged']:+.3f})"
        for row in others
        if row["both_caught"] - row["rules_caught"] <= row["both_flagged"] - row["rules_flagged"]
    ]
    if lost:
        return f"not better than the rules alone; do not take it up. It loses on: {'; '.join(lost)}"
    return "better than the rules alone on every group of other authors"


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Markdown."""
    lines = [
        "| answers | false by | true | false | AUC | rules: caught / flagged | verifier at that rate | as served "
        "| rules and verifier |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['group']} | {row['kind']} | {row['true']} | {row['false']} | {row['auc']:.3f} "
        f"| {row['rules_caught']:.3f} / {row['rules_flagged']:.3f} | {row['caught_at_that_rate']:.3f} "
        f"| {row['served_caught']:.3f} / {row['served_flagged']:.3f} "
        f"| {row['both_caught']:.3f} / {row['both_flagged']:.3f} |"
        for row in rows
    ]
    return "\n".join(lines)
