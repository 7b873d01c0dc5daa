"""What the gateway's review says of drafts made from cells (cell_drafts.py): the share that it doubts, by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from quelea_checker import check_answer
from quelea_gateway.core.draft import Sources
from quelea_gateway.core.model import Finished
from quelea_gateway.core.review.answer_review import Basis, ReaderAnswer, review
from support.cell_drafts import CellDraft


class _Checker:
    async def check(self, answer, passages, *, question=""):
        return check_answer(answer, passages, question=question)


@dataclass
class Doubts:
    """Counts by (kind, form, shape): drafts, and those in which a figure is doubted or which are declined.

    The kind of a true draft is empty.
    """

    drafts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    doubted: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    wrong: list[CellDraft] = field(default_factory=list)
    """True ones that are doubted, false ones that are not."""

    def share(self, kind: str, form: str) -> float:
        """Of a kind, in a form; not a number where there is none."""
        every = sum(count for key, count in self.drafts.items() if key[:2] == (kind, form))
        return (
            sum(count for key, count in self.doubted.items() if key[:2] == (kind, form)) / every
            if every
            else float("nan")
        )

    def count(self, kind: str, form: str) -> int:
        """How many there are."""
        return sum(count for key, count in self.drafts.items() if key[:2] == (kind, form))


async def is_doubted(one: CellDraft) -> bool:
    """A figure of it is not supported, or it is declined."""
    basis = Basis(
        question=one.question, language=one.language, evidence=one.evidence, enough=True, strict=False,
        sources=Sources(one.evidence),
    )  # fmt: skip
    written = ReaderAnswer(one.draft, (), Finished("stop", "openai", "by rule"))
    answer = await review(_Checker(), written, basis)
    return answer.declined is not None or answer.grounding is None or bool(answer.grounding.unsupported())


async def count_doubts(drafts: Iterable[CellDraft]) -> Doubts:
    """Of all drafts."""
    found = Doubts()
    for one in drafts:
        key = one.kind, one.form, one.shape
        doubted = await is_doubted(one)
        found.drafts[key] += 1
        found.doubted[key] += doubted
        if doubted is not bool(one.kind):
            found.wrong.append(one)
    return found
