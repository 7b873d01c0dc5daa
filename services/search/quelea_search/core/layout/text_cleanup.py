"""Characters: what extraction leaves in a text that no reader wants to see, and no index to hold."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

BREAK_HYPHEN = "\ufffe"
"""What the PDF engine writes for a hyphen at the end of a line, after which the word goes on."""

_SPACES = re.compile(r"[ \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2028\u2029\x85]+")
_DROP = re.compile(
    "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\uffff\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]"
)
# Latin ligatures, CJK radicals that stand for the ideograph, full-width letters and digits, compatibility ideographs.
# Full-width punctuation stays: it belongs to Chinese text.
_COMPATIBLE = re.compile("[\ufb00-\ufb06\u2e80-\u2fdf\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uf900-\ufaff]")
_BULLET = re.compile("[\uf0b7\uf0a7\uf0d8\uf076\uf02d]")
_PRIVATE = re.compile("[\ue000-\uf8ff]")
_PAREN_GAP = re.compile(r"(?<=[\d%])\s+(?=[)%])|(?<=\()\s+(?=[\d$])")
_TIDY = re.compile(r"[\x21-\x7e‘’“”–—•…®™§©☒☐]++(?: [\x21-\x7e‘’“”–—•…®™§©☒☐]++)*+")
_PLAIN = re.compile(r"[\x20-\x7e‘’“”–—•…®™§©☒☐]*")
_CJK_EDGE = re.compile(r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef“”‘’—…]")


def clean(text: str) -> str:
    """One line of text as a reader wants it: single spaces, no invisible characters, ligatures spelled out."""
    if _TIDY.fullmatch(text):  # most lines, and each is looked at several times
        return text
    if not _PLAIN.fullmatch(text):
        text = _DROP.sub("", text)
        text = _COMPATIBLE.sub(lambda m: unicodedata.normalize("NFKC", m.group()), text)
        text = _PRIVATE.sub("", _BULLET.sub("•", text))
    return _SPACES.sub(" ", text.replace("\r", " ").replace("\n", " ")).strip()


def clean_cell(text: str) -> str:
    """Like clean(), and "(260 )" becomes "(260)", "12 %" becomes "12%"."""
    if not text:  # most cells of a sparse table
        return ""
    return _PAREN_GAP.sub("", clean(text))


def mend_hyphens(lines: Iterable[str]) -> list[str]:
    """Words broken at a line's end made whole. The hyphen goes when the document writes the word without one elsewhere,
    or when a half is no word of the document ("au-thorizations"); it stays in "one-time".
    """
    held = list(lines)
    if not any(BREAK_HYPHEN in line for line in held):
        return held
    known = {word for line in held for word in re.findall(r"(?<![\w\ufffe])[a-z]{2,}(?![\w\ufffe])", line.lower())}

    def mend(match: re.Match[str]) -> str:
        left, right = match[1], match[2]
        halves = left.lower() in known and right.lower() in known
        keep = (left + right).lower() not in known and (halves or not (left.islower() and right.islower()))
        return f"{left}-{right}" if keep else left + right

    pattern = re.compile(rf"(?<!\w)(\w*+){BREAK_HYPHEN}\s{{0,8}}(\w*)")
    return [pattern.sub(mend, line) if BREAK_HYPHEN in line else line for line in held]


def ends_chinese(text: str) -> bool:
    """Whether a line's last character is Chinese or full-width."""
    return _CJK_EDGE.match(text[-1]) is not None


def glue(upper: str, lower: str) -> str:
    """Two printed lines as one: no space between Chinese characters, nor after a hyphen or slash that joins words."""
    if _CJK_EDGE.match(upper[-1]) and (_CJK_EDGE.match(lower[0]) or lower[0].isdigit()):
        return upper + lower
    if _CJK_EDGE.match(lower[0]) and upper[-1].isdigit():
        return upper + lower
    if upper[-1] in "-/" and len(upper) > 1 and upper[-2].isalpha() and lower[0].isalpha():
        return upper + lower
    return f"{upper} {lower}"


def glue_lines(lines: Iterable[str]) -> str:
    """Printed lines, none of them empty, as one, with `glue` between them, in linear time."""
    parts: list[str] = []
    end = ""
    for line in lines:
        # What glue looks at of the upper line is its end.
        parts.append(glue(end, line)[len(end) :] if end else line)
        end = (end + parts[-1])[-2:]
    return "".join(parts)
