"""Chinese and English text as words, as jieba cuts it.

The product's own words come from rjieba, which cuts figures and addresses otherwise than jieba 0.42.1 ("2023-04" is one
word there, three here). Published figures were computed with jieba; so are these. The distribution forked-jieba is that
version with its dictionary, as a wheel.
"""

from __future__ import annotations

import logging
import os
from functools import cache
from pathlib import Path
from typing import Any


@cache
def _tokenizer() -> Any:  # jieba has no annotations
    import jieba  # noqa: PLC0415  # its dictionary takes a moment, which the other commands need not wait for

    jieba.setLogLevel(logging.ERROR)
    tokenizer = jieba.Tokenizer()
    # Its cache is read with marshal, so it must not lie in a folder that others may write to.
    root = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    folder = Path(root) / "quelea" / "jieba"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        folder = Path(os.devnull)  # nowhere to keep it: the dictionary is read anew, half a second
    tokenizer.tmp_dir = str(folder)
    tokenizer.initialize()
    return tokenizer


def cut(text: str) -> list[str]:
    """Words, punctuation and whitespace of a text, in order: "".join(cut(text)) == text."""
    return list(_tokenizer().cut(text))
