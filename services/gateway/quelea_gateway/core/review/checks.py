"""The checks of an answer by name, as callers read them: does it hold, and in a few words why."""

from __future__ import annotations

from quelea_checker import UNSUPPORTED

from quelea_gateway.core.grounding import Grounded, marks
from quelea_gateway.core.model import Check, Citation
from quelea_gateway.core.review.verdicts import Grounding

_MOST_NAMED = 5


def check_markers(answer: str, citations: tuple[Citation, ...], sources: list[str]) -> Check:
    """Every [n] has a citation, and there is one."""
    numbers = {citation.number for citation in citations}
    loose = sorted({mark.number for mark in marks(answer, sources)} - numbers)
    detail = f"no citation for {_name_markers(loose)}" if loose else f"{len(numbers)} cited passages"
    return Check("citations_resolve", not loose and bool(citations), detail)


def check_quotes(citations: tuple[Citation, ...], faults: list[str]) -> Check:
    """Every quote stands in its passage, character for character."""
    count = len(citations)
    return Check("quotes_verbatim", not faults, "; ".join(faults) or f"{count} of {count} quotes are in their passage")


def check_grounding(found: Grounded, language_holds: bool | None, *, by: str) -> tuple[Check, ...]:
    """What was found; by: the "checker", or "quotes" of a reader that only quotes.

    language_holds is None when the text has too few words to tell.
    """
    grounding = found.grounding
    checks = (_figures(grounding, by), _sentences(grounding), _markers(found))
    if language_holds is None:
        return checks
    detail = "the answer is in the question's language" if language_holds else "not in the question's language"
    return (*checks, Check("language", language_holds, detail))


def report_unchecked(why: str) -> tuple[Check, ...]:
    """The check could not be made."""
    return (Check("figures_supported", False, f"not checked: {why}"),)


def _figures(grounding: Grounding, by: str) -> Check:
    otherwise, absent = grounding.unsupported({"contradicted"}), grounding.unsupported({"not_found"})
    count = {v: sum(f.verdict == v for f in grounding.figures) for v in ("supported", "derived")}
    if otherwise or absent:
        parts = [f"contradicted by the evidence: {', '.join(otherwise)}"] if otherwise else []
        parts += [f"not in the evidence: {', '.join(absent)}"] if absent else []
        return Check("figures_supported", False, f"{by}: {'; '.join(parts)}")
    said = f"{by}: {count['supported']} of {len(grounding.figures)} figures in the evidence"
    return Check("figures_supported", True, said + (f", {count['derived']} derived" if count["derived"] else ""))


def _sentences(grounding: Grounding) -> Check:
    claims = [s for s in grounding.sentences if s.verdict != "no_claim"]
    bad = [s for s in claims if s.verdict in UNSUPPORTED]
    held = sum(s.verdict == "supported" for s in claims)
    partly = len(claims) - held - len(bad)
    detail = f"{held} of {len(claims)} sentences supported" + (f", {partly} in part" if partly else "")
    return Check("sentences_supported", not bad, detail + (f", {len(bad)} not" if bad else ""))


def _markers(found: Grounded) -> Check:
    removed, added = found.grounding.removed_markers, found.grounding.added_markers
    parts = [f"removed {' '.join(removed)}"] if removed else []
    parts += [f"added {' '.join(added)}"] if added else []
    return Check("markers_right", not removed, "; ".join(parts) or "every marker names what supports its sentence")


def _name_markers(numbers: list[int]) -> str:
    shown = ", ".join(f"[{number}]" for number in numbers[:_MOST_NAMED])
    return shown + (", …" if len(numbers) > _MOST_NAMED else "")
