"""An answer against reference answers: exact match, F1 and ROUGE, after the paper of OmniEval and after its code.

Where the two differ both are here, under names of their own. The code is RUC-NLPIR/OmniEval, revision b8385be, with
rouge-chinese 1.0.3 over jieba 0.42.1: `em_mean`, `f1_char`. The paper (2412.13018, appendix): `em_max`, `f1_token`.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from quelea_evaluation.metrics.words import cut

_DELETED = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_EPSILON = 1e-8

# Where rouge-chinese cuts a sentence: behind an end mark unless a closing quotation mark follows.
_BREAKS = (
    re.compile("([。！？?])([^”’])"),
    re.compile(r"(\.{6})([^”’])"),
    re.compile("(…{2})([^”’])"),
    re.compile("([。！？?][”’])([^，。！？?])"),
)


@dataclass(frozen=True)
class Rouge:
    """F of ROUGE-1, ROUGE-2 and ROUGE-L, each 0 to 1."""

    rouge1: float
    rouge2: float
    rouge_l: float


def normalize(text: str) -> str:
    """Lower case, without ASCII punctuation and English articles, whitespace collapsed. Chinese punctuation stays."""
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_DELETED)).split())


def em_mean(answer: str, references: Sequence[str]) -> float:
    """The share of references that the answer equals, as OmniEval's code has it; 0 without references."""
    if not references:
        return 0.0
    said = normalize(answer)
    return sum(said == normalize(one) for one in references) / len(references)


def em_max(answer: str, references: Sequence[str]) -> float:
    """1 when the answer equals any of the references, else 0."""
    said = normalize(answer)
    return float(any(said == normalize(one) for one in references))


def f1_char(answer: str, references: Sequence[str]) -> float:
    """F1 over characters, the spaces between jieba's words among them, as OmniEval's code has it; best reference."""
    said = " ".join(cut(normalize(answer)))
    return max((_overlap_f1(said, " ".join(cut(normalize(one)))) for one in references), default=0.0)


def f1_token(answer: str, references: Sequence[str]) -> float:
    """F1 over words; best reference."""
    said = _words(answer)
    return max((_overlap_f1(said, _words(one)) for one in references), default=0.0)


def _words(text: str) -> list[str]:
    return [word for word in cut(normalize(text)) if word.strip()]


def _overlap_f1(said: Sequence[str], reference: Sequence[str]) -> float:
    same = (Counter(said) & Counter(reference)).total()
    if same == 0:
        return 0.0
    precision, recall = same / len(said), same / len(reference)
    return (2 * precision * recall) / (precision + recall)


def rouge(answer: str, references: Sequence[str]) -> Rouge:
    """ROUGE over jieba's words, of the text as it is; each of the three is the best over the references for itself.

    ROUGE-1 and -2 compare sets of n-grams, ROUGE-L the longest common subsequence of the whole texts. All are 0 when
    the answer or any reference has characters but no words, as there rouge-chinese raises an error and OmniEval takes
    that for 0; references without a character are left out.
    """
    kept = [one for one in references if one]
    if not answer or not kept:
        return Rouge(0.0, 0.0, 0.0)
    said = _rouge_words(answer)
    others = [_rouge_words(one) for one in kept]
    if not said or not all(others):
        return Rouge(0.0, 0.0, 0.0)
    return Rouge(
        max(_ngram_f(said, one, 1) for one in others),
        max(_ngram_f(said, one, 2) for one in others),
        max(_f(_common_subsequence(said, one), len(said), len(one)) for one in others),
    )


def _rouge_words(text: str) -> list[str]:
    """Words as rouge-chinese sees them: a sentence of nothing but whitespace is one empty word."""
    joined = " ".join(cut(text))
    for pattern in _BREAKS:
        joined = pattern.sub("\\1\n\\2", joined)
    sentences = [" ".join(one.split()) for one in joined.rstrip().split("\n") if one]
    return [word for one in sentences for word in one.split(" ")]


def _ngram_f(said: Sequence[str], reference: Sequence[str], n: int) -> float:
    left, right = _ngrams(said, n), _ngrams(reference, n)
    return _f(len(left & right), len(left), len(right))


def _ngrams(words: Sequence[str], n: int) -> set[tuple[str, ...]]:
    return {tuple(words[i : i + n]) for i in range(len(words) - n + 1)}


def _f(common: int, said: int, reference: int) -> float:
    precision = common / said if said else 0.0
    recall = common / reference if reference else 0.0
    return 2.0 * ((precision * recall) / (precision + recall + _EPSILON))


def _common_subsequence(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """Length of the longest common subsequence, a word of `right` at a time over the bits of `left` (Hyyrö 2004)."""
    places: dict[Hashable, int] = {}
    for at, word in enumerate(left):
        places[word] = places.get(word, 0) | 1 << at
    everything = (1 << len(left)) - 1
    row = everything
    for word in right:
        found = row & places.get(word, 0)
        row = ((row + found) | (row - found)) & everything
    return len(left) - row.bit_count()
