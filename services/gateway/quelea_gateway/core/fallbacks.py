"""Why a search was wider than its question, in Chinese: the retriever says it in English."""

from __future__ import annotations

import re

_CHINESE = (
    (r"no document of (.+?); searched everything", r"没有\1的文档，已检索全部内容"),
    (r"no filing for (.+?); searched everything", r"没有\1的财务报告，已检索全部内容"),
    (r"no filing of (.+?) for (.+?); searched all of \1(?=;|$)", r"没有\1的\2财务报告，已检索\1的全部文档"),
    (r"no filing of (.+?) for (.+?); (.+?) shows it for comparison", r"没有\1的\2财务报告，\3列有其对比数"),
    (r"no filing of (.+?) for (.+?)(?=;|$)", r"没有\1的\2财务报告"),
    (r"no document of (.+?)(?=;|$)", r"没有\1的文档"),
    (
        r"the newest stored (.+?) of (.+?) is for the (?:quarter|year) ended (.+?); other companies' are newer, so "
        r"its latest is probably not stored",
        r"所存\2最新的 \1 截至 \3；其他公司已有更新的，其最新一期可能尚未入库",
    ),
    (r"the newest (\d+) of (\d+) filings", r"仅使用\2份财务报告中最新的\1份"),
)


def in_chinese(fallback: str) -> str:
    """The retriever's line; what is not known here stays as it is."""
    for english, chinese in _CHINESE:
        fallback = re.sub(english, chinese, fallback)
    return fallback.replace("; ", "；")
