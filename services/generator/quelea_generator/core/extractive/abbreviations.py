"""Abbreviations of a question that its evidence spells out: the DCAI of "Data Center and AI (DCAI)"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from quelea_fintext.abbreviations import asked_for, is_made_of, meanings
from quelea_fintext.text import stem, terms

from quelea_generator.core.line_items import Expression, concepts
from quelea_generator.core.model import Evidence

_LABEL = re.compile(r"^[A-Z][A-Za-z&, -]{3,60}(?=\t| [$(]?\d)", re.MULTILINE)
_LINKS = frozenset("and of the for in to &".split())


def spelled_out(question: str, evidence: Sequence[Evidence]) -> dict[str, tuple[Expression, ...]]:
    """Stemmed abbreviation -> what it stands for, as terms: by the evidence's definitions, else by the labels of its
    tables that are made of its letters.

    What is an item of finance anyway (EPS, R&D) is left to the concepts.
    """
    known = {word for concept in concepts() for expression in concept for word in expression}
    wanted = [one for one in asked_for(question) if stem(one.lower()) not in known]
    if not wanted:
        return {}
    found = {short: set(longs) for short, longs in meanings(wanted, (item.text for item in evidence)).items()}
    labels = {match.group() for item in evidence if item.is_table for match in _LABEL.finditer(item.text)}
    for label in labels:
        words = [word.strip(",") for word in label.split() if word.lower() not in _LINKS]
        for short in wanted:
            if short not in found and is_made_of(short, words):
                found[short] = {label}
    return {
        stem(short.lower()): tuple(sorted({expression for long in longs if (expression := tuple(terms(long)))}))
        for short, longs in found.items()
    }
