"""Measures over rankings, by ir-measures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import ir_measures
from ir_measures import AP, RR, Success

_MEASURES = {"hit@1": Success @ 1, "hit@5": Success @ 5, "hit@10": Success @ 10, "MRR@10": RR @ 10, "MAP@5": AP @ 5}


@dataclass(frozen=True)
class Judged:
    """One question's ranking as relevance by rank, with the number of right things there are."""

    question: str
    relevant: tuple[bool, ...]
    total_relevant: int


def measure(judged: Iterable[Judged]) -> dict[str, float]:
    """Mean of every measure over the questions, 0 to 1, and their count."""
    qrels, run, count = [], [], 0
    for one in judged:
        count += 1
        for rank, relevant in enumerate(one.relevant):
            run.append(ir_measures.ScoredDoc(one.question, f"r{rank}", float(-rank)))
            if relevant:
                qrels.append(ir_measures.Qrel(one.question, f"r{rank}", 1))
        missing = one.total_relevant - sum(one.relevant)
        qrels += [ir_measures.Qrel(one.question, f"missing{n}", 1) for n in range(missing)]
        if not one.relevant:
            run.append(ir_measures.ScoredDoc(one.question, "nothing", 0.0))
    if not count:
        return {"questions": 0.0}
    values = ir_measures.calc_aggregate(list(_MEASURES.values()), qrels, run)
    return {"questions": float(count), **{name: float(values[m]) for name, m in _MEASURES.items()}}


def first_appearance(keys: Sequence[str]) -> list[str]:
    """Documents in the order of their first passage."""
    return list(dict.fromkeys(keys))
