"""Bytes of a web page to characters: what the server says, what the page says, then what the bytes look like."""

from __future__ import annotations

import codecs
import re

from quelea_search.adapters.formats.encoding import decode

_DECLARED = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{2,40})", re.I)
_HEAD = 4096
_MOST_BROKEN = 0.005
"""Share of broken characters up to which a declared charset is believed: real pages quote badly encoded comments."""
_WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "x-gbk": "gb18030", "big5": "big5hkscs", "iso-8859-1": "cp1252",
          "latin1": "cp1252", "us-ascii": "cp1252", "ks_c_5601-1987": "cp949", "euc-kr": "cp949",
          "shift_jis": "cp932", "x-sjis": "cp932"}  # fmt: skip
"""What the names mean in practice (WHATWG Encoding): pages use the larger charset under the smaller one's name."""
_REFUSED = frozenset({"utf-7", "utf7", "unicode-escape", "raw-unicode-escape", "idna", "punycode", "undefined"})


def decode_page(data: bytes, charset: str) -> str | None:
    """The text of a page.

    Valid UTF-8 is believed before any declaration, since nothing else looks like it by chance, while servers often
    declare a default that is wrong.

    Args:
        charset: Of the Content-Type header; empty where it says none.

    Returns:
        None when the bytes are no text.
    """
    if not data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE)):
        text = _utf8(data)
        if text is not None and "\x00" not in text[:_HEAD]:
            return text
        declared = _DECLARED.search(data[:_HEAD])
        for name in (charset, declared[1].decode("ascii") if declared else ""):
            text = _declared_encoding(data, name)
            if text is not None:
                return text
    return decode(data)


def _utf8(data: bytes) -> str | None:
    """UTF-8, also when its last character was cut off."""
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return None


def _declared_encoding(data: bytes, name: str) -> str | None:
    name = _WIDER.get(name.lower(), name.lower())
    if not name or name in _REFUSED:
        return None
    try:
        if not codecs.lookup(name)._is_text_encoding:
            return None
        text = data.decode(name, errors="replace")
    except (LookupError, ValueError):
        return None
    return text if text.count("\ufffd") <= _MOST_BROKEN * len(text) and "\x00" not in text[:_HEAD] else None
