"""Words of a question that a passage need not repeat: those of asking, and those that help without deciding."""

from __future__ import annotations

from quelea_fintext.languages import LANGUAGES
from quelea_fintext.text import stem

QUESTION_WORDS = frozenset(map(stem, LANGUAGES.words("questions.asking")))
"""Words of asking, of filings and of time: what a passage need not repeat to be the answer."""

WEAK_WORDS = frozenset(map(stem, LANGUAGES.words("questions.weak")))
"""Words that help but do not decide."""
