"""Answers that are known to be true or false, with their evidence, and how they are counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from quelea_checker import UNSUPPORTED

_CALLERS = 2


@dataclass(frozen=True)
class Pair:
    """An answer with its evidence.

    Args:
        kind: How it was made false, or what a true one is a check of.
        true: Whether the passages bear the answer out.
        passages: As POST /v1/check takes them.
    """

    id: str
    kind: str
    language: str
    true: bool
    answer: str
    passages: tuple[dict[str, str], ...]

    def wrong(self, checked: Mapping[str, Any]) -> bool:
        """A true answer that is doubted, or a false one that passes.

        Doubted is an answer with a figure or a sentence that is contradicted or not found.
        """
        doubted = any(f["verdict"] in UNSUPPORTED for f in checked["figures"])
        doubted = doubted or any(s["verdict"] in UNSUPPORTED for s in checked["sentences"])
        return doubted == self.true


def rows(pairs: Sequence[Pair], wrong: Sequence[Pair]) -> list[tuple[str, int, float]]:
    """(what, how many, share): false answers caught and true ones flagged, in all, by language and by kind."""
    missed = {pair.id for pair in wrong}

    def share(of: Sequence[Pair], *, caught: bool) -> float:
        hits = sum(pair.id in missed for pair in of)
        return (len(of) - hits if caught else hits) / len(of) if of else float("nan")

    found = []
    for name, chosen in (
        ("", list(pairs)),
        *((f", {language}", [p for p in pairs if p.language == language]) for language in ("en", "zh")),
        *((f", {kind}", [p for p in pairs if p.kind == kind]) for kind in sorted({p.kind for p in pairs})),
    ):
        false, true = [p for p in chosen if not p.true], [p for p in chosen if p.true]
        if false:
            found.append((f"caught{name}", len(false), share(false, caught=True)))
        if true:
            found.append((f"flagged though true{name}", len(true), share(true, caught=False)))
    return found


def check_pairs(pairs: Sequence[Pair], check: Callable[[Pair], Mapping[str, Any]]) -> list[Pair]:
    """Those that are judged wrongly."""
    with ThreadPoolExecutor(_CALLERS) as pool:
        return [p for p, checked in zip(pairs, pool.map(check, pairs), strict=True) if p.wrong(checked)]
