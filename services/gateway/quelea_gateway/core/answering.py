"""The end of the ask pipeline: what the reader wrote is checked, put right, or declined."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field

from quelea_fintext.text import CJK, language_of
from quelea_kit.errors import DeadlineExceeded, QueleaError, Unavailable
from quelea_kit.logging import get_logger

from quelea_gateway.core import checks
from quelea_gateway.core.abstaining import abstains, refusal
from quelea_gateway.core.checking import CheckPassage, Report
from quelea_gateway.core.citations import assemble, placed
from quelea_gateway.core.grounding import (
    Grounded,
    attributed,
    behind,
    ground,
    quotations,
    regions,
    report_of_quotes,
    tidy,
)
from quelea_gateway.core.model import (
    Check,
    Citation,
    Delta,
    Finished,
    Passage,
    Quote,
    ReaderInfo,
)
from quelea_gateway.core.ports import Checker
from quelea_gateway.core.verdicts import Grounding

log = get_logger(__name__)

CHECK_SECONDS = 10.0
"""An answer that is written waits so long for its check; then it is sent unchecked and says so."""
MOST_CHARACTERS = 20_000
"""Of an answer; a reader that writes more is stopped, and the answer ends there."""
QUOTING = "extractive"
"""The reader whose lines are quotes by construction, with their markers."""
_LEAST_LETTERS = 12
_NO_PROSE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`|“[^”\n]*”|https?://\S+", re.DOTALL)


class CheckFailed(QueleaError):
    """The checker broke on this answer."""


@dataclass(frozen=True)
class Written:
    """What the reader wrote."""

    text: str
    quotes: tuple[Quote, ...]
    finished: Finished


@dataclass
class Draft:
    """What the reader has written so far."""

    reader: ReaderInfo
    text: list[str] = field(default_factory=list)
    quotes: list[Quote] = field(default_factory=list)
    finished: Finished | None = None
    length: int = 0

    def take(self, event: Delta | Quote | Finished) -> None:
        """One event of the reader."""
        if isinstance(event, Delta):
            self.text.append(event.text)
            self.length += len(event.text)
        elif isinstance(event, Quote):
            self.quotes.append(event)
        else:
            self.finished = event

    @property
    def endless(self) -> bool:
        """It wrote more than an answer may have."""
        return self.length > MOST_CHARACTERS

    def written(self) -> Written:
        """The whole. Raises Unavailable when the reader ended in the middle of it."""
        if self.endless:
            cut = Finished("length", self.reader.reader, self.reader.model, self.reader.prompt_version)
            return Written("".join(self.text)[:MOST_CHARACTERS], tuple(self.quotes), cut)
        if self.finished is None:
            raise Unavailable("The reader ended before its answer was complete.", details={"dependency": "generator"})
        return Written("".join(self.text), tuple(self.quotes), self.finished)


@dataclass(frozen=True)
class Basis:
    """What an answer is judged by.

    Attributes:
        question: As it was understood.
        language: Of the question.
        enough: The gate passed the local evidence, or the web brought more.
        companies: Those that the question names.
        company_missing: Of one of them no document is stored.
    """

    question: str
    language: str
    evidence: tuple[Passage, ...]
    enough: bool
    strict: bool
    companies: tuple[str, ...] = ()
    company_missing: bool = False


@dataclass(frozen=True)
class Concluded:
    """What is shown.

    Attributes:
        grounding: None when the check failed and the answer is shown unchecked.
        notices: Names of notices, with what fills them in.
    """

    text: str
    declined: bool
    grounding: Grounding | None
    citations: tuple[Citation, ...] = ()
    checks: tuple[Check, ...] = ()
    notices: tuple[tuple[str, str], ...] = ()


async def concluded(checker: Checker, written: Written, basis: Basis) -> Concluded:
    """The answer as it may be shown.

    Raises:
        QueleaError: strict, and the check could not be made.
    """
    if written.finished.reason == "declined":
        return _declined(written.text, basis.language)
    text = tidy(written.text)
    if not text.strip():
        return _declined("", basis.language, notice="ungrounded")
    exact = written.finished.reader == QUOTING
    quoted = regions(text, written.quotes, basis.evidence) if exact else []
    report = report_of_quotes(text, quoted, basis.evidence) if quoted else None
    by = "checker" if report is None else "quotes"
    if report is None:
        try:
            report = await _report(checker, text, written, basis)
        except QueleaError as error:
            if basis.strict:
                raise
            return _unchecked(text, written, basis, error)
    if not exact:
        report = attributed(report, basis.evidence, basis.companies, missing=basis.company_missing)
    sources = [passage.text for passage in basis.evidence]
    verbatim = quotations(text, basis.evidence) if by == "checker" else ()
    found = ground(text, report, sources, quoted=quoted, verbatim=verbatim, strict=basis.strict)
    foreign = not exact and _in_language(text, basis.language) is False
    why = abstains(found.grounding, sources, enough=basis.enough, foreign=foreign, strict=basis.strict)
    if why:
        return _declined("", basis.language, notice="all_withheld" if why == "withheld" else why, found=found)
    return _shown(found, written, basis, by=by)


async def _report(checker: Checker, text: str, written: Written, basis: Basis) -> Report:
    evidence = basis.evidence
    if written.finished.reader == QUOTING and written.quotes:
        evidence = behind(written.quotes, evidence)
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            return await checker.check(text, [to_check(passage) for passage in evidence], question=basis.question)
    except TimeoutError:
        raise DeadlineExceeded("The check of the answer took too long; ask again.") from None
    except QueleaError:
        raise
    except Exception as error:  # a fault of the checker must cost its verdicts, not the answer
        log.exception("check_failed", characters=len(text), passages=len(evidence))
        raise CheckFailed("The answer could not be checked; the gateway's log has the reason.") from error


def to_check(passage: Passage) -> CheckPassage:
    """A passage with what stands around it; the header names its filing also where the retriever's does not."""
    more = (passage.title, passage.company, passage.period, passage.period_end)
    header = " · ".join([passage.header] * bool(passage.header) + [p for p in more if p and p not in passage.header])
    return CheckPassage(passage.text, passage.table_head, header, passage.published, passage.document_id)


def _shown(found: Grounded, written: Written, basis: Basis, *, by: str) -> Concluded:
    exact = written.finished.reader == QUOTING
    grounding = found.grounding
    citations, faults = assemble(found.placed, written.quotes, basis.evidence, exact=exact)
    holds = None if exact else _in_language(grounding.text, basis.language)
    verdicts = (
        checks.resolving(grounding.text, citations, [passage.text for passage in basis.evidence]),
        checks.verbatim(citations, faults),
        *checks.grounded(found, holds, by=by),
    )
    notices: list[tuple[str, str]] = []
    if absent := grounding.unsupported():
        notices.append(("figures", ", ".join(absent)))
    if grounding.withheld:
        notices.append(("withheld", str(len(grounding.withheld))))
    if not citations:
        notices.append(("uncited", ""))
    if holds is False:
        notices.append(("language", ""))
    return Concluded(grounding.text, False, grounding, citations, verdicts, tuple(notices))


def _declined(text: str, language: str, *, notice: str = "", found: Grounded | None = None) -> Concluded:
    """A refusal; of an answer that the checks let fall, with what they found."""
    said = refusal(text, language)
    grounding = Grounding(said)
    failed: tuple[Check, ...] = ()
    if found is not None:
        was = found.grounding
        grounding = Grounding(said, removed_markers=was.removed_markers, withheld=was.withheld)
        failed = (Check("sentences_supported", False, "nothing that the reader wrote is supported; it is not shown"),)
    return Concluded(said, True, grounding, (), failed, ((notice, ""),) if notice else ())


def _unchecked(text: str, written: Written, basis: Basis, error: QueleaError) -> Concluded:
    """As the reader wrote it: the evidence and its quotes are there, and it is said that nobody checked them."""
    sources = [passage.text for passage in basis.evidence]
    citations, faults = assemble(placed(text), written.quotes, basis.evidence, exact=written.finished.reader == QUOTING)
    verdicts = (
        checks.resolving(text, citations, sources),
        checks.verbatim(citations, faults),
        *checks.unchecked(error.reason),
    )
    return Concluded(text, False, None, citations, verdicts, (("unchecked", ""),))


def _in_language(text: str, language: str) -> bool | None:
    """Whether the answer's own words are in the language; None when there are too few to tell."""
    own = _NO_PROSE.sub(" ", text)
    letters = sum(character.isascii() and character.isalpha() for character in own) + 3 * len(CJK.findall(own))
    return language_of(own) == language if letters >= _LEAST_LETTERS else None
