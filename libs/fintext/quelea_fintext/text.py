"""Words of Chinese and English text, for everyone who compares them."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import rjieba
import Stemmer

from quelea_fintext.languages import LANGUAGES

_STEMMER = Stemmer.Stemmer("english")
_CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
CJK = re.compile(f"[{_CJK}]")
_CHINESE = re.compile(f"[{_CJK}]+")
_WORD = re.compile(rf"[{_CJK}]+|[A-Za-z]+(?:['’][A-Za-z]+)?|\d+(?:[.,]\d+)*")
_LETTERS = re.compile("[A-Za-z]+")
_ENGLISH_QUESTION = re.compile(
    r"\s*(?:by how|how|what|when|where|which|who|whose|why|did|does|was|were)\s[^？]+\Z", re.IGNORECASE
)
_FUNCTION_TAGS = frozenset("cdefmopruy")
"""Of jieba's dictionary: conjunction, adverb, exclamation, place, numeral, sound, preposition, pronoun, particles."""
_DIGIT = re.compile(r"\d")
_LETTERS_ALONE = bytes(byte if chr(byte).isalpha() and byte < 128 else 32 for byte in range(256))
"""For bytes.translate: what is no letter becomes a space."""
_NO_DIGITS = bytes(byte for byte in range(256) if not 48 <= byte < 58)
_SPACES = bytes(byte for byte in range(128) if chr(byte).isspace())
_SHORT = 24
"""Characters of a run without white space that is worth remembering: English words, hardly Chinese."""
_MOST_SEEN = 50_000
_seen: dict[str, tuple[str, ...]] = {}
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*", re.ASCII)
_AROUND_FIGURES = "$%()[],.;:+-*"

STOP_WORDS = frozenset(LANGUAGES.words("language.stop_words"))


def normalise(text: str) -> str:
    """NFKC (full-width to ordinary forms), lower case."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).lower()


def lower(text: str) -> str:
    """In lower case, as long as before: patterns for such text take a third of the time of those that ignore case."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c if len(c.lower()) > 1 else c.lower() for c in text)


def language_of(text: str) -> str:
    """ "zh" when a tenth of the letters are Chinese, else "en"; an English question with a Chinese name is "en"."""
    sample = text[:20_000]
    if sample.isascii():
        return "en"
    chinese = len(CJK.findall(sample))
    if chinese and _ENGLISH_QUESTION.match(sample) and chinese <= len(_LETTERS.findall(sample)):
        return "en"
    latin = sum(map(len, _LETTERS.findall(sample)))
    return "zh" if chinese and chinese * 9 >= latin else "en"


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """Snowball (Porter 2) stem of a lower-case English word; any other word unchanged."""
    return str(_STEMMER.stemWord(word)) if word.isascii() and word.isalpha() else word


def words(text: str, *, new_words: bool = True) -> list[str]:
    """Lower-case words in order: Chinese cut by jieba, English as written, numbers without thousands separators.

    Args:
        text: To cut.
        new_words: Join Chinese characters that stand in no dictionary to likely words; else each is a word.
    """
    found: list[str] = []
    for piece in _WORD.findall(normalise(text)):  # every search reads its passages so: plain words go the short way
        if piece.isascii() and piece.isalpha():
            found.append(piece)
        elif CJK.match(piece):
            found.extend(word for word in rjieba.cut(piece, new_words) if word.strip())
        elif piece[0].isdigit():
            found.append(piece.replace(",", "").rstrip("."))
        else:
            found.append(piece.replace("’", "'").removesuffix("'s"))
    return found


def new_words(text: str) -> list[str]:
    """What stands in no dictionary and is written like a word, in order: 安靠智电 in 安靠智电面临哪些风险.

    Chinese characters that jieba's model joins and its dictionary does not, neighbours as one, as often as they come.
    Particles, pronouns and the like at an end belong to the sentence (对安靠智电); with one inside it is no word.
    """
    found: list[str] = []
    for piece in _CHINESE.findall(normalise(text)):
        known, run = set(rjieba.cut(piece, False)), ""
        for word in (*rjieba.cut(piece, True), ""):
            if len(word) > 1 and word not in known:
                run += word
                continue
            while run and _is_function_word(run[0]):
                run = run[1:]
            while run and _is_function_word(run[-1]):
                run = run[:-1]
            if len(run) > 1 and not any(map(_is_function_word, run)):
                found.append(run)
            run = ""
    return found


@lru_cache(maxsize=10_000)
def _is_function_word(character: str) -> bool:
    return rjieba.tag(character, False)[0][1][:1] in _FUNCTION_TAGS


def terms(text: str) -> list[str]:
    """words(), without stop words, stemmed: what two texts are compared by."""
    found: list[str] = []
    for run in text.split():  # no word reaches over white space, so a run that was seen before is read already
        known = _seen.get(run)
        found += _terms_of(run) if known is None else known
    return found


def _terms_of(run: str) -> tuple[str, ...]:
    bare = run.strip(_AROUND_FIGURES)
    if _FIGURE.fullmatch(bare):  # there are too many to remember, and they are read at once
        return (bare.replace(",", ""),)
    found = tuple(stem(word) for word in words(run) if word not in STOP_WORDS)
    if len(run) <= _SHORT:
        if len(_seen) >= _MOST_SEEN:
            _seen.clear()
        _seen[run] = found
    return found


def estimate_tokens(text: str) -> int:
    """About how many tokens a subword model reads: 0.7 a Chinese character, 1.3 an English word, 0.6 a digit.

    An estimate for budgets, where the model's own tokenizer is not at hand; its error:
    `docs/experiments/2026-11-22-encoder.md`.
    """
    raw = text.encode("ascii", "replace")  # bytes are several times quicker to take apart; no letter or digit is lost
    lengths = list(map(len, raw.translate(_LETTERS_ALONE).split()))
    letters = sum(lengths)
    plain = text.isascii()
    digits = len(raw.translate(None, _NO_DIGITS)) if plain else len(_DIGIT.findall(text))
    visible = len(raw.translate(None, _SPACES)) if plain else sum(map(len, text.split()))
    others = visible - letters - digits
    beyond = letters - 4 * len(lengths) + sum([4 - length for length in lengths if length < 4])
    total = len(lengths) + beyond / 7 + 0.6 * digits + 0.7 * others
    return round(total)
