"""The periods that a question asks about, held against what was found: which make the evidence incomplete, and what is
said of them beside the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from quelea_gateway.core.model import Citation, Passage
from quelea_gateway.core.short_periods import ShortPeriod, short_periods, told, uncovered, year_in_parts
from quelea_gateway.core.unreal_periods import Unreal, spoken_of, unreal_periods


@dataclass(frozen=True)
class AskedPeriods:
    """Those that do not exist or are out of any report's reach, and those that no report counts by."""

    question: str = ""
    unreal: Unreal = field(default_factory=Unreal)
    short: tuple[ShortPeriod, ...] = ()

    @classmethod
    def of(cls, question: str, as_of: str) -> AskedPeriods:
        """Of a question that stands alone, asked on that day (YYYY-MM-DD)."""
        return cls(question, unreal_periods(question, as_of), short_periods(question, as_of))

    @property
    def impossible(self) -> bool:
        """Nothing is evidence of them, whatever fits the other words, and nobody can have any."""
        return bool(self.unreal.none_such)

    def unanswered(self, evidence: Sequence[Passage]) -> bool:
        """Whether nothing of the evidence is of the period: no figure in it can be the one that is asked for."""
        return self._unspoken(self.unreal.out_of_reach, evidence) or bool(uncovered(self.short, evidence))

    def incomplete(self, evidence: Sequence[Passage]) -> bool:
        """Whether the evidence says nothing of a period that has not begun; plans and forecasts may."""
        return self._unspoken(self.unreal.not_begun, evidence)

    @staticmethod
    def _unspoken(periods: Sequence[str], evidence: Sequence[Passage]) -> bool:
        texts = [f"{passage.header} {passage.text}" for passage in evidence]
        return any(not spoken_of(period, texts) for period in periods)

    def notices(self, evidence: Sequence[Passage], citations: Sequence[Citation]) -> list[tuple[str, str]]:
        """Names of notices, each with the periods that it is about.

        Args:
            evidence: What the reader was shown, in the order of its numbers.
            citations: Of the answer; none when it was declined.
        """
        unreal = self.unreal
        said = (
            ("no_such_period", unreal.none_such),
            ("period_not_begun", unreal.not_begun),
            ("out_of_reach", unreal.out_of_reach),
        )
        found = [(name, ", ".join(periods)) for name, periods in said if periods]
        if found:
            return found
        numbered = [one for one in citations if 0 < one.number <= len(evidence)]
        cited = [replace(evidence[one.number - 1], text=one.quote) for one in numbered]
        parts = year_in_parts(self.question, cited)
        return [*told(self.short, evidence, cited), *([("part_of_year", parts)] if parts else [])]
