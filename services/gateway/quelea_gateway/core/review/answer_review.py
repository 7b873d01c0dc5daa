"""The end of the ask pipeline: what the reader wrote is checked, put right, or declined."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from quelea_checker import UNSUPPORTED, Report
from quelea_fintext.text import CJK, language_of, terms
from quelea_kit.errors import DeadlineExceeded, QueleaError, Unavailable
from quelea_kit.logging import get_logger

from quelea_gateway.core.answers.citations import assemble, place_markers
from quelea_gateway.core.answers.evidence import figures_of, to_check
from quelea_gateway.core.draft import DraftFigure, DraftWriter, Sources, write_draft
from quelea_gateway.core.grounding import (
    Grounded,
    attribute,
    compare,
    find_asked,
    find_quotations,
    find_quotes,
    ground,
    only_quoted,
    report_of_figures,
    report_of_quotes,
    settle,
    tidy,
)
from quelea_gateway.core.grounding.markers import MARKER
from quelea_gateway.core.model import (
    AnswerFigure,
    Check,
    Citation,
    Delta,
    Figure,
    Finished,
    Passage,
    Quote,
    ReaderInfo,
)
from quelea_gateway.core.ports import Checker
from quelea_gateway.core.review import checks
from quelea_gateway.core.review.decline import Decline, DeclineReason, decline, refusal
from quelea_gateway.core.review.verdicts import Grounding

log = get_logger(__name__)

CHECK_SECONDS = 10.0
"""An answer that is written waits so long for its check; then it is sent unchecked and says so."""
MOST_CHARACTERS = 20_000
"""Of an answer; a reader that writes more is stopped, and the answer ends there."""
QUOTING = "extractive"
"""The reader whose lines are quotes by construction, with their markers."""
_LEAST_LETTERS = 12
_SHORT = 12
"""Terms of an answer that makes no claim which could be checked: a name, a yes."""
_YES_OR_NO = re.compile(r"^\W*(?:(?:yes|no|true|false)\b|不?[是会对]|没?有|否|正确|错误)", re.IGNORECASE)
_NO_PROSE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]{1,400}`|“[^”\n“]*”|https?://\S+", re.DOTALL)


class CheckFailed(QueleaError):
    """The checker broke on this answer."""


@dataclass(frozen=True)
class ReaderAnswer:
    """What the reader wrote."""

    text: str
    quotes: tuple[Quote, ...]
    finished: Finished


@dataclass
class Draft:
    """What the reader has written so far.

    Attributes:
        writer: Puts the figures in their places as the text streams; None of a reader whose text is final.
    """

    reader: ReaderInfo
    writer: DraftWriter | None = None
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

    def shown(self, text: str) -> str:
        """What of the text may be shown now that this piece has come."""
        return self.writer.feed(text) if self.writer else text

    def rest(self) -> str:
        """What was held back, at the end."""
        return self.writer.finish() if self.writer else ""

    @property
    def endless(self) -> bool:
        """It wrote more than an answer may have."""
        return self.length > MOST_CHARACTERS

    def written(self) -> ReaderAnswer:
        """The whole. Raises Unavailable when the reader ended in the middle of it."""
        if self.endless:
            cut = Finished("length", self.reader.reader, self.reader.model, self.reader.prompt_version)
            return ReaderAnswer("".join(self.text)[:MOST_CHARACTERS], tuple(self.quotes), cut)
        if self.finished is None:
            raise Unavailable("The reader stopped before its answer was complete.", details={"dependency": "generator"})
        return ReaderAnswer("".join(self.text), tuple(self.quotes), self.finished)


@dataclass(frozen=True)
class Basis:
    """What an answer is judged by.

    Attributes:
        question: As it was understood.
        language: Of the question.
        enough: The gate passed the local evidence, or the web brought more.
        companies: Those that the question names.
        company_missing: Of one of them no document is stored.
        figures: What statements in the evidence say to the question.
        shortfall: What the evidence is known to lack before anyone has read it.
        sources: What the draft points at.
    """

    question: str
    language: str
    evidence: tuple[Passage, ...]
    enough: bool
    strict: bool
    companies: tuple[str, ...] = ()
    company_missing: bool = False
    figures: tuple[Figure, ...] = ()
    shortfall: Decline | None = None
    sources: Sources = field(default_factory=lambda: Sources(()))


@dataclass(frozen=True)
class ReviewedAnswer:
    """What is shown.

    Attributes:
        grounding: None when the check failed and the answer is shown unchecked.
        notices: Names of notices, with what fills them in.
        figures: Those that the draft pointed at, or computed.
    """

    text: str
    declined: Decline | None
    grounding: Grounding | None
    citations: tuple[Citation, ...] = ()
    checks: tuple[Check, ...] = ()
    notices: tuple[tuple[str, str], ...] = ()
    figures: tuple[AnswerFigure, ...] = ()


async def review(checker: Checker, written: ReaderAnswer, basis: Basis) -> ReviewedAnswer:
    """The answer as it may be shown.

    Raises:
        QueleaError: strict, and the check could not be made.
    """
    if written.finished.reason == "declined":
        return _decline_answer(
            basis, _reason_of(written.finished), text=written.text, detail=written.finished.decline_detail
        )
    text = tidy(written.text)
    if not text.strip():
        return _decline_answer(basis, DeclineReason.EMPTY_ANSWER, noticed=True)
    exact = written.finished.reader == QUOTING
    pointed: tuple[DraftFigure, ...] = ()
    if not exact:
        text, pointed = write_draft(text, basis.sources, basis.language)
    quoted = find_quotes(text, written.quotes, basis.evidence) if exact else []
    report = report_of_quotes(text, quoted, basis.evidence) if quoted else None
    if report is None and exact and basis.figures:
        quoted, report = [], report_of_figures(text, basis.figures, basis.evidence)
    by = "checker" if report is None else "quotes"
    differences: dict[int, str] = {}
    if report is None:
        try:
            report = await _report(checker, text, written, basis)
            differences = await _differences(text, pointed, basis)
        except QueleaError as error:
            if basis.strict:
                raise
            return _pass_unchecked(text, written, basis, error, pointed)
    if not exact:
        report = settle(report, [*pointed, *find_asked(report, basis.figures, basis.evidence)], text, differences)
        report = attribute(report, basis.evidence, basis.companies, missing=basis.company_missing)
    sources = [passage.text for passage in basis.evidence]
    verbatim = find_quotations(text, basis.evidence) if by == "checker" else ()
    found = ground(text, report, sources, quoted=quoted, verbatim=verbatim, pointed=pointed, strict=basis.strict)
    foreign = not exact and _in_language(text, basis.language) is False
    why = why_declined(found.grounding, sources, enough=basis.enough, foreign=foreign, strict=basis.strict)
    if why:
        return _decline_answer(basis, why, noticed=True, found=found)
    held = {f.text for f in found.grounding.figures if f.verdict not in UNSUPPORTED}
    figures = _traced([one for one in pointed if one.said in held], basis)
    return replace(_present(found, written, basis, by=by), figures=figures)


def _traced(pointed: Sequence[DraftFigure], basis: Basis) -> tuple[AnswerFigure, ...]:
    """The draft's figures, each once, without those that are stated anyhow."""
    made = {_making(one.figure): one.figure for one in reversed(pointed) if one.figure}
    known = {_making(one) for one in figures_of(basis.figures, basis.evidence)}
    return tuple(one for key, one in reversed(made.items()) if key not in known)


def _making(figure: AnswerFigure) -> tuple[str, tuple[tuple[str, int, int], ...]]:
    """What a figure is made from: its formula, and the places of its operands."""
    places = tuple((one.document_id, one.page, one.start) for one in figure.operands)
    return figure.formula if len(places) > 1 else "", places


async def _report(checker: Checker, text: str, written: ReaderAnswer, basis: Basis) -> Report:
    evidence = basis.sources.mended or basis.evidence
    if written.finished.reader == QUOTING and written.quotes:
        evidence = only_quoted(written.quotes, basis.evidence)
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            return await checker.check(text, [to_check(passage) for passage in evidence], question=basis.question)
    except TimeoutError:
        raise DeadlineExceeded("Checking the answer took too long; try again.") from None
    except QueleaError:
        raise
    except Exception as error:  # a fault of the checker must cost its verdicts, not the answer
        log.exception("check_failed", characters=len(text), passages=len(evidence))
        raise CheckFailed("The answer could not be checked; the gateway's log has the reason.") from error


async def _differences(text: str, pointed: Sequence[DraftFigure], basis: Basis) -> dict[int, str]:
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            return await asyncio.to_thread(compare, text, pointed, basis.sources, basis.question)
    except TimeoutError:
        raise DeadlineExceeded("Checking the answer took too long; try again.") from None
    except Exception as error:
        log.exception("comparison_failed", characters=len(text), figures=len(pointed))
        raise CheckFailed("The answer could not be checked; the gateway's log has the reason.") from error


def _present(found: Grounded, written: ReaderAnswer, basis: Basis, *, by: str) -> ReviewedAnswer:
    exact = written.finished.reader == QUOTING
    grounding = found.grounding
    citations, faults = assemble(found.placed, written.quotes, basis.evidence, exact=exact)
    holds = None if exact else _in_language(grounding.text, basis.language)
    verdicts = (
        checks.check_markers(grounding.text, citations, [passage.text for passage in basis.evidence]),
        checks.check_quotes(citations, faults),
        *checks.check_grounding(found, holds, by=by),
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
    return ReviewedAnswer(grounding.text, None, grounding, citations, verdicts, tuple(notices))


def _reason_of(finished: Finished) -> DeclineReason:
    if finished.decline_reason is not None:
        return finished.decline_reason
    return DeclineReason.NOT_IN_EVIDENCE if finished.reader == QUOTING else DeclineReason.MODEL_REFUSED


def why_declined(
    grounding: Grounding, sources: Sequence[str], *, enough: bool, foreign: bool = False, strict: bool = False
) -> DeclineReason | None:
    """Why a text is no answer; None when it is one.

    Args:
        grounding: Of the text.
        sources: Texts of the evidence.
        enough: The gate passed the local evidence, or the web brought more.
        foreign: The text is not in the question's language.
        strict: Only sentences in which every figure is supported were left.

    A sentence carries the answer when it is supported, or when one of its figures is. Where the evidence is enough,
    also when it is supported in part, unless the text is foreign: of words in another language than the evidence's the
    checker can only say "partly". A text without a claim that could be checked carries it when one passage has all its
    words, or when it is a yes or no that cites.
    """
    withheld = DeclineReason.ALL_WITHHELD if grounding.withheld else None
    if not grounding.text.strip():
        return withheld or DeclineReason.UNGROUNDED
    claims = [sentence for sentence in grounding.sentences if sentence.verdict != "no_claim"]
    if not claims:
        return withheld or (None if _is_short_answer(grounding.text, sources) else DeclineReason.UNGROUNDED)
    cited = [sentence for sentence in claims if sentence.passages]
    if any(sentence.verdict == "supported" or grounding.supporting(sentence) for sentence in cited):
        return None
    partly = any(sentence.verdict == "partly" for sentence in cited)
    if partly and enough and not foreign:
        return None
    if strict and withheld:
        return withheld
    return DeclineReason.WEAK_EVIDENCE if partly and not enough else DeclineReason.UNGROUNDED


def _is_short_answer(text: str, sources: Sequence[str]) -> bool:
    """A yes or no that cites, or a few words that one passage has all of."""
    words = set(terms(MARKER.sub(" ", text)))
    if len(words) > _SHORT:
        return False
    if _YES_OR_NO.match(text) and MARKER.search(text):
        return True
    return bool(words) and any(words <= set(terms(source)) for source in sources)


def _decline_answer(
    basis: Basis,
    reason: DeclineReason,
    *,
    text: str = "",
    detail: str = "",
    noticed: bool = False,
    found: Grounded | None = None,
) -> ReviewedAnswer:
    """A refusal; of an answer that failed the checks, with what they found.

    What the evidence was known to lack says more than the reader's own reason, and more than the checks' where there
    was no evidence at all.
    """
    said = refusal(text, basis.language)
    why = Decline(reason, detail) if detail and basis.language == "en" else decline(reason, basis.language)
    if basis.shortfall is not None and (not noticed or not basis.evidence):
        why = basis.shortfall
    grounding = Grounding(said)
    failed: tuple[Check, ...] = ()
    if found is not None:
        was = found.grounding
        grounding = Grounding(said, removed_markers=was.removed_markers, withheld=was.withheld)
        failed = (Check("sentences_supported", False, "nothing that the reader wrote is supported; it is not shown"),)
    return ReviewedAnswer(said, why, grounding, (), failed, ((reason, ""),) if noticed else ())


def _pass_unchecked(
    text: str, written: ReaderAnswer, basis: Basis, error: QueleaError, pointed: Sequence[DraftFigure]
) -> ReviewedAnswer:
    """As the reader wrote it: the evidence and its quotes are there, and it is said that nobody checked them.

    What the draft pointed at was found in the evidence before anything is checked, and stays.
    """
    sources = [passage.text for passage in basis.evidence]
    citations, faults = assemble(
        place_markers(text, pointed), written.quotes, basis.evidence, exact=written.finished.reader == QUOTING
    )
    verdicts = (
        checks.check_markers(text, citations, sources),
        checks.check_quotes(citations, faults),
        *checks.report_unchecked(error.reason),
    )
    figures = _traced(pointed, basis)
    return ReviewedAnswer(text, None, None, citations, verdicts, (("unchecked", ""),), figures)


def _in_language(text: str, language: str) -> bool | None:
    """Whether the answer's own words are in the language; None when there are too few to tell."""
    own = _NO_PROSE.sub(" ", text)
    letters = sum(character.isascii() and character.isalpha() for character in own) + 3 * len(CJK.findall(own))
    return language_of(own) == language if letters >= _LEAST_LETTERS else None
