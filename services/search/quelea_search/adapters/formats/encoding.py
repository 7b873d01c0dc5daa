"""Bytes of a text to characters: byte order marks, UTF-8, what the text declares, then GB18030 or Big5 or Western."""

from __future__ import annotations

import codecs
import re
from encodings.aliases import aliases

from charset_normalizer import from_bytes
from charset_normalizer.constant import IANA_SUPPORTED

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED = re.compile(rb"(?:charset|encoding)\s*=\s*[\"']?\s*([A-Za-z0-9_\-]{3,20})", re.I)
# The characters that make up about a third of any Chinese text, in simplified and in traditional writing.
_COMMON = frozenset(
    "的一是不了在有人我这中大为上个国和也子时道那要下得可你年生公司业月日市场元亿万股增长资产收入报告本期以及对于将与"
    "這個國為時會來對開學動種過發後說們經產業務銀行證券資億萬報財"
)
_SAMPLE = 60_000


def decode(data: bytes) -> str | None:
    """The text of some bytes, or None when they are no text (they hold NUL or are mostly control characters)."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _strict(data, name) or data.decode(name, errors="replace")
    wide = _wide(data)
    if wide:
        return data.decode(wide, errors="replace")
    if b"\x00" in data[:_SAMPLE]:
        return None
    if sum(1 for byte in data[:4096] if byte < 32 and byte not in (9, 10, 11, 12, 13, 27)) > len(data[:4096]) // 20:
        return None
    text = _strict(data, "utf-8")
    if text is not None:
        return text
    declared = _DECLARED.search(data[:2048])
    if declared:
        name = _character_set(declared[1].decode("ascii"))
        text = _strict(data, name) if name else None
        if text is not None:
            return text
    return _guess(data)


def _character_set(label: str) -> str:
    """Python's name of a character set of the web; empty for all else: "punycode" and "undefined" are codecs too."""
    name = label.lower()
    if name in ("gb2312", "gbk"):
        return "gb18030"
    known = aliases.get(re.sub(r"[^a-z0-9]+", "_", name), name.replace("-", "_"))
    return known if known in IANA_SUPPORTED else ""


def _wide(data: bytes) -> str:
    """UTF-16 without a mark: a zero in every other byte of Western text."""
    sample = data[:2000]
    if len(sample) < 4:
        return ""
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    if odd > 0.4 * half and even < 0.1 * half:
        return "utf-16-le"
    return "utf-16-be" if even > 0.4 * half and odd < 0.1 * half else ""


def _guess(data: bytes) -> str:
    best, score = None, 0.04
    for name in ("gb18030", "big5hkscs"):
        text = _strict(data, name) or _almost(data, name)
        if text is not None:
            share = _chinese_share(text)
            if share > score:
                best, score = text, share
    if best is not None:
        return best
    match = from_bytes(data[:_SAMPLE]).best()
    text = _strict(data, match.encoding) if match else None
    return text if text is not None else data.decode("cp1252", errors="replace")


def _chinese_share(text: str) -> float:
    """Share of common Chinese characters among what is not ASCII."""
    wide = [c for c in text[:_SAMPLE] if ord(c) > 127]
    return sum(1 for c in wide if c in _COMMON) / len(wide) if wide else 0.0


def _strict(data: bytes, name: str) -> str | None:
    try:
        return data.decode(name)
    except (UnicodeDecodeError, LookupError):
        return None


def _almost(data: bytes, name: str) -> str | None:
    """A text with a few broken characters (a file cut in the middle of one)."""
    text = data.decode(name, errors="replace")
    return text if text.count("\ufffd") * 200 <= len(text) else None
