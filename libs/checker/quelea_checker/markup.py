"""Tables of a passage that is written in HTML, as lines of cells between tabs."""

from __future__ import annotations

import html
import re

MAY_BE = re.compile(r"<t[dr][\s>]", re.IGNORECASE)
_CELL_END = re.compile(r"\s*</t[dh]\s*>\s*", re.IGNORECASE)
_LINE_END = re.compile(
    r"\s*</(?:tr|caption|p|div|h\d|li)\s*>\s*|\s*<(?:br|tr|table|/table)\b[^<>]{0,300}>\s*", re.IGNORECASE
)
_TAG = re.compile(r"</?[a-z][^<>]{0,300}>|<!--.{0,300}?-->", re.IGNORECASE)


def rows(text: str) -> str:
    """The text without tags: a row's cells stand between tabs, rows and paragraphs on lines of their own."""
    text = re.sub(r"[\r\n\t]+", " ", text) if "\t" not in text else text
    text = _LINE_END.sub("\n", text)
    lines = (_TAG.sub("", _CELL_END.sub("\t", line)) for line in text.split("\n"))
    return html.unescape("\n".join(line.removesuffix("\t") for line in lines))
