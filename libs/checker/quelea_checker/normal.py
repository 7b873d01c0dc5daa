"""Full-width characters and Arabic digits as ordinary ones, one for one, so that every span stays where it is."""

from __future__ import annotations

import re

_PLAIN = str.maketrans(
    {
        **{chr(zero + n): str(n) for n in range(10) for zero in (0xFF10, 0x0660, 0x06F0)},
        "٬": ",", "٫": ".", "٪": "%",
        "％": "%", "．": ".", "（": "(", "）": ")", "＋": "+", "－": "-", "−": "-", "‐": "-", "‑": "-", "﹣": "-",
        "＄": "$", "￥": "¥", "￡": "£", "～": "~", "〜": "~",
        "\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u3000": " ",
        "：": ":", "；": ";", "’": "'", "‘": "'", "`": "'", "［": "[", "］": "]",
    }
)  # fmt: skip
_WIDE_COMMA = re.compile(r"(?<=[０-９])，(?=[０-９]{3}(?![０-９]))")


def plain(text: str) -> str:
    """The text with its full-width digits, signs and brackets made ordinary; as long as before.

    A full-width comma is a thousands separator only between full-width digits; elsewhere it ends a clause.
    """
    return _WIDE_COMMA.sub(",", text).translate(_PLAIN)
