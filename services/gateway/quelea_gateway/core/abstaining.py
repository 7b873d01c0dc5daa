"""When there is no answer: decided by the gate and the checks, said with the paper's sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from quelea_fintext.languages import REFUSALS
from quelea_fintext.text import terms

from quelea_gateway.core.grounding.marking import MARKER
from quelea_gateway.core.verdicts import Grounding

Reason = Literal["", "ungrounded", "gate", "withheld"]

_ENDS = " \t\n.。!！\"“”'"
_YES_OR_NO = re.compile(r"^\W*(?:(?:yes|no|true|false)\b|不?[是会对]|没?有|否|正确|错误)", re.IGNORECASE)
_SHORT = 12
"""Terms of an answer that makes no claim which could be checked: a name, a yes."""


def refusal(text: str, language: str) -> str:
    """The sentence of a refusal: as the reader wrote it when it wrote nothing else, in the right language."""
    return text if text.strip(_ENDS) == REFUSALS[language] else REFUSALS[language]


def abstains(
    grounding: Grounding, sources: Sequence[str], *, enough: bool, foreign: bool = False, strict: bool = False
) -> Reason:
    """Why there is no answer in a text; empty when there is one.

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
    if not grounding.text.strip():
        return "withheld" if grounding.withheld else "ungrounded"
    claims = [sentence for sentence in grounding.sentences if sentence.verdict != "no_claim"]
    if not claims:
        if grounding.withheld:
            return "withheld"
        return "" if _says_what_stands(grounding.text, sources) else "ungrounded"
    carried = [s for s in claims if s.passages and (s.verdict == "supported" or grounding.supporting(s))]
    if carried:
        return ""
    partly = [s for s in claims if s.passages and s.verdict == "partly"]
    if partly and enough and not foreign:
        return ""
    if strict and grounding.withheld:
        return "withheld"
    return "gate" if partly and not enough else "ungrounded"


def _says_what_stands(text: str, sources: Sequence[str]) -> bool:
    words = set(terms(MARKER.sub(" ", text)))
    if len(words) > _SHORT:
        return False
    if _YES_OR_NO.match(text) and MARKER.search(text):
        return True
    return bool(words) and any(words <= set(terms(source)) for source in sources)
