"""Whether the figures and citations of an answer hold, given the passages that it was written from.

Where a rule lives, in the order in which an answer goes through:

reading a text      shaping (foreign markers, LaTeX), normal, sentences, not_figures (numbers that are none), amounts,
                    spelled, counts (years that count things), periods with period_forms and short_dates, attaching
                    (which time a figure is of), leading (what a line before a list or a column's head holds for)
reading evidence    markup (tables in HTML), tables, heads, mended_heads, units, passage_facts (a passage), facts (all
                    of them), fiscal (what a header tells of the years), times (whether two times can be one), owners
                    (whose passage it is)
a figure found      supported: the facts that matching, contradicting, signs, spans, measures, together, naming and
                    bases let it be; binding, by profiles (the words about it), whether they fit another fact better;
                    rows (which row of a table the words name) for figures that are computed
a figure computed   resolving, where the words state the computation outright (asking) and name its rows (operands)
                    and times: then it is compared with that alone; else deriving searches relevant rows (relevance) by
                    computing, columns, steps, sums, wide, earlier (what was before); following says whether the result
                    is what was said; wording which computation the words ask for
a whole sentence    against (superlatives, extremes, comparing, listed, fiscal_names), exchanged subjects, chained
                    (what follows from its own figures)
prose               against_prose: contrary ("not", who did it to whom), clauses (the opposite, by opposites), prefixed
                    ("un-"), overstated ("all" of "some"), numbered ("six" for five), ranking (which of two is more, of
                    all most), mingled (what is said of another thing), invented (a name, a thing, a cause); across
                    (another language)
verdicts            support (sentences and markers), checker puts all together
"""

from __future__ import annotations

from quelea_checker.checker import check_answer
from quelea_checker.model import (
    UNSUPPORTED,
    CheckedFigure,
    CheckedSentence,
    CheckPassage,
    MarkerFault,
    Markers,
    MissingMarker,
    Near,
    Report,
)

__all__ = [
    "UNSUPPORTED",
    "CheckPassage",
    "CheckedFigure",
    "CheckedSentence",
    "MarkerFault",
    "Markers",
    "MissingMarker",
    "Near",
    "Report",
    "check_answer",
]
