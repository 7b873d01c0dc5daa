"""Whether the prose of the passages speaks against a sentence that is made of its words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import islice

from quelea_fintext.text import CJK

from quelea_checker import invented
from quelea_checker.clauses import is_opposed
from quelea_checker.contrary import is_contrary
from quelea_checker.facts import Evidence
from quelea_checker.mingled import is_mingled
from quelea_checker.numbered import is_miscounted
from quelea_checker.overstated import is_overstated
from quelea_checker.passage_facts import content
from quelea_checker.prefixed import is_prefixed
from quelea_checker.ranking import is_misranked

_MOST_SENTENCES = 600
"""Sentences of the passages that are looked at, and of those the ones that share most words with the sentence."""
_CLOSEST = 40


class Prose:
    """The prose of an evidence, for sentence after sentence of one answer.

    Args:
        evidence: The passages, read.
        question: What was asked.
    """

    def __init__(self, evidence: Evidence, question: str) -> None:
        self._evidence = evidence
        self._question = question

    def is_against(self, sentence: str, passages: Sequence[int], *, figures: bool) -> bool:
        """Whether passages, numbered from 1, say otherwise: the opposite, of a part only, of another thing.

        Args:
            sentence: Without markers.
            passages: Those that support it best.
            figures: It has figures that were found: they say what it is about.
        """
        near = self._near(sentence, passages)
        if (
            is_contrary(sentence, near)
            or is_opposed(sentence, near, named=not figures)
            or is_overstated(sentence, near)
            or is_prefixed(sentence, near)
            or is_miscounted(sentence, near)
            or is_misranked(sentence, self._evidence)
        ):
            return True
        if figures:
            return False
        return (
            invented.has_foreign_name(sentence, self._terms, self._initials)
            or invented.is_substituted(sentence, near, self)
            or is_mingled(sentence, near, self)
            or invented.has_own_cause(sentence, near)
        )

    def __contains__(self, term: object) -> bool:
        """Whether any passage or the question has a term."""
        if not isinstance(term, str):
            return False
        return term in self._terms or (CJK.match(term) is not None and term in self._text)

    def _near(self, sentence: str, passages: Sequence[int]) -> list[str]:
        """The sentences that share most words with it, and their neighbours, in their order."""
        every = list(islice(self._evidence.sentences(passages), _MOST_SENTENCES))
        if len(every) <= _CLOSEST:
            return every
        terms = content(sentence)
        shared = [len(terms & content(text)) for text in every]
        best = sorted(range(len(every)), key=lambda at: -shared[at])[:_CLOSEST]
        kept = {at for one in best if shared[one] for at in (one - 1, one, one + 1)}
        return [text for at, text in enumerate(every) if at in kept]

    @cached_property
    def _terms(self) -> frozenset[str]:
        return frozenset().union(content(self._question), *self._evidence.terms)

    @cached_property
    def _text(self) -> str:
        said = (f"{group.label} {group.section}" for group in self._evidence.groups)
        return "\n".join((self._question, *self._evidence.titles, *said))

    @cached_property
    def _initials(self) -> str:
        return "".join(word[0] for word in self._text.lower().split())
