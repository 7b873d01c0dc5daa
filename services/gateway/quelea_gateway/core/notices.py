"""What the reader of an answer should know beside it, in the question's language."""

from __future__ import annotations

from quelea_gateway.core.model import Check, Citation, Finished, Retrieved

_TEXTS = {
    "empty": (
        "The knowledge base has no passage to answer from. Add documents first, or widen the filters.",
        "知识库中没有可用的内容。请先添加文档，或放宽筛选条件。",
    ),
    "company": (
        "The question names a company that no document of the knowledge base is about.",
        "问题中的公司在知识库中没有对应的文档。",
    ),
    "period": (
        "The question names a period that no document of the knowledge base covers.",
        "问题中的报告期在知识库中没有对应的文档。",
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
        "A figure of this answer is not in what it cites: {detail}.",
        "回答中的数字未能在引用内容中找到：{detail}。",
    ),
}


def _say(name: str, language: str, **values: str) -> str:
    return _TEXTS[name][1 if language == "zh" else 0].format(**values)


def notices_for(
    retrieved: Retrieved,
    finished: Finished,
    citations: tuple[Citation, ...],
    checks: tuple[Check, ...],
    language: str,
    route: tuple[str, ...] = (),
) -> tuple[str, ...]:
    """One line for each thing that was missing, left out or doubtful; `route` names those of the web step."""
    reading, found = retrieved.reading, [_say(name, language) for name in route]
    if not retrieved.passages:
        found.append(_say("empty", language))
    missing = [_say("company", language)] if reading.company_missing else []
    missing += [_say("period", language)] if reading.period_missing else []
    if reading.fallback and (language == "en" or not missing):
        # The retriever writes it in English, and it is the more exact of the two.
        missing = [reading.fallback]
    found.extend(missing)
    if finished.reason == "length":
        found.append(_say("length", language))
    if checks and not citations:
        found.append(_say("uncited", language))
    found.extend(
        _say("figures", language, detail=check.detail.removeprefix("not in what is cited: "))
        for check in checks
        if check.name == "figures_supported" and not check.passed
    )
    return tuple(found)
