"""What the reader of an answer should know beside it, in the question's language."""

from __future__ import annotations

import re
from collections.abc import Sequence

from quelea_gateway.core.model import Finished, Reading, Retrieved
from quelea_gateway.core.review.decline import DETAILS

_TEXTS: dict[str, tuple[str, str]] = {
    **DETAILS,
    "out_of_reach": (
        "No report can be of this period: {detail}.",
        "不可能有该期间的报告：{detail}。",
    ),
    "no_such_kind": (
        "Reports have no period of this kind: {detail}. Ask for a quarter, a half or a fiscal year.",
        "财务报告没有这样的期间：{detail}。请按季度、半年或财年提问。",
    ),
    "longer_period": (
        "No evidence reports this period by itself; there is only a longer one that holds it: {detail}.",
        "资料没有单独报告该期间，只有包含它的更长的期间：{detail}。",
    ),
    "part_of_year": (
        "What is quoted reports quarters, or the months of the year until then, not the whole year: {detail}.",
        "所引内容报告的是季度或年初至今的数据，而不是全年：{detail}。",
    ),
    "period_unnamed": (
        "The evidence does not cover the period asked about: {detail}.",
        "资料没有涵盖所问的期间：{detail}。",
    ),
    "no_web": (
        "The local evidence may not answer this; this deployment has no web search.",
        "本地知识库的内容可能不足以回答该问题；此部署没有网络搜索。",
    ),
    "filtered": (
        "The local evidence may not answer this. With filters the web is searched only when asked for: route web.",
        "本地知识库的内容可能不足以回答该问题。使用筛选条件时，仅在指定 route 为 web 时才搜索网络。",
    ),
    "web_failed": (
        "The web search failed: the answer is from the knowledge base alone.",
        "网络搜索失败，回答仅依据本地知识库。",
    ),
    "web_empty": (
        "The web search brought nothing that could be used: the answer is from the knowledge base alone.",
        "网络搜索没有得到可用的内容，回答仅依据本地知识库。",
    ),
    "rank_failed": (
        "Web pages were read and could not be ranked: the answer is from the knowledge base alone.",
        "已读取网页但无法排序，回答仅依据本地知识库。",
    ),
    "web_partial": (
        "A part of the web could not be searched or read; web.problems has the details.",
        "部分网络来源未能搜索或读取，详见 web.problems。",
    ),
    "length": (
        "The reader reached its length limit; the answer may be cut short.",
        "回答达到长度上限，可能不完整。",
    ),
    "uncited": (
        "The reader cited nothing for this answer: take it with care and look at the evidence.",
        "该回答没有给出引用，请谨慎使用并查看检索到的内容。",
    ),
    "figures": (
        "The evidence does not bear out a figure of this answer: {detail}.",
        "资料不支持回答中的数字：{detail}。",
    ),
    "withheld": (
        "Sentences withheld because the evidence does not bear them out: {detail}.",
        "因资料不支持，回答中有 {detail} 句未予显示。",
    ),
    "model_failed": (
        "The language model did not answer; these are quotes from the sources.",
        "语言模型未能作答，以下为来源原文摘录。",
    ),
    "model_unusable": (
        "The evidence does not bear out what the language model wrote; these are quotes from the sources instead.",
        "语言模型写出的内容未得到资料支持，以下改为来源原文摘录。",
    ),
    "unchecked": (
        "This answer could not be checked against the evidence: take it with care.",
        "该回答未能与资料核对，请谨慎使用。",
    ),
    "language": (
        "The answer is not in the question's language.",
        "回答所用的语言与问题不同。",
    ),
}


def say(name: str, language: str, detail: str = "") -> str:
    """The sentence of a notice, in "en" or "zh"."""
    return _TEXTS[name][language == "zh"].format(detail=detail)


def not_covered(reading: Reading, language: str) -> list[str]:
    """What the question names and no document has, as exactly as the retriever tells it in this language."""
    missing = [say("company_not_covered", language)] if reading.company_missing else []
    missing += [say("period_not_covered", language)] if reading.period_missing else []
    exact = in_chinese(reading.fallback) if language == "zh" else reading.fallback
    if exact and (language == "en" or exact != reading.fallback or not missing):
        return [exact]
    return missing


def notices_for(
    retrieved: Retrieved,
    finished: Finished,
    language: str,
    route: tuple[str, ...] = (),
    checked: Sequence[tuple[str, str]] = (),
    *,
    as_of: str,
) -> tuple[str, ...]:
    """One line for each thing that was missing, left out or doubtful.

    Args:
        retrieved: With the reading in the light of the evidence.
        finished: How the reader ended.
        language: Of the question.
        route: Names of those of the web step.
        checked: Names of those of the checks, each with what fills it in.
        as_of: The day of the question: what came out later does not count.
    """
    reading, found = retrieved.reading, [say(name, language) for name in route]
    if not retrieved.passages:
        found.append(say("no_evidence", language, as_of))
    found.extend(not_covered(reading, language))
    if finished.reason == "length":
        found.append(say("length", language))
    found.extend(say(name, language, detail) for name, detail in checked)
    return tuple(found)


_FALLBACKS_IN_CHINESE = (
    (r"no document of (.+?); searched everything", r"没有\1的文档，已检索全部内容"),
    (r"no filing for (.+?); searched everything", r"没有\1的财务报告，已检索全部内容"),
    (r"no filing of (.+?) for (.+?); searched all of \1(?=;|$)", r"没有\1的\2财务报告，已检索\1的全部文档"),
    (r"no filing of (.+?) for (.+?); (.+?) shows it for comparison", r"没有\1的\2财务报告，\3列有其对比数"),
    (r"no filing of (.+?) for (.+?)(?=;|$)", r"没有\1的\2财务报告"),
    (r"statements of (.+?) have (\d+) of (\d+) periods", r"所存\1的报表只有所问\3期中的\2期"),
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
    for english, chinese in _FALLBACKS_IN_CHINESE:
        fallback = re.sub(english, chinese, fallback)
    return fallback.replace("; ", "；")
