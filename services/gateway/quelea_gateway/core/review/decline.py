"""Why there is no answer: one list of reasons, set by the stage that declines and carried to the caller."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from quelea_fintext.languages import REFUSALS

_ENDS = " \t\n.。!！\"“”'"


class DeclineReason(StrEnum):
    """Why a question was declined; docs/howto/why-was-my-answer-declined.md says what to do about each.

    The first five are known before the reader is asked, the next five are the reader's, the last three the checks'.
    """

    NO_SUCH_PERIOD = "no_such_period"
    PERIOD_NOT_BEGUN = "period_not_begun"
    PERIOD_NOT_COVERED = "period_not_covered"
    COMPANY_NOT_COVERED = "company_not_covered"
    NO_EVIDENCE = "no_evidence"
    NOT_IN_EVIDENCE = "not_in_evidence"
    ADVICE_ASKED = "advice_asked"
    NOT_A_QUESTION = "not_a_question"
    MODEL_REFUSED = "model_refused"
    EMPTY_ANSWER = "empty_answer"
    UNGROUNDED = "ungrounded"
    WEAK_EVIDENCE = "weak_evidence"
    ALL_WITHHELD = "all_withheld"


@dataclass(frozen=True)
class Decline:
    """A reason, and one sentence about it in the question's language."""

    reason: DeclineReason
    detail: str


DETAILS: dict[str, tuple[str, str]] = {
    DeclineReason.NO_SUCH_PERIOD: (
        "There is no such period: {detail}.",
        "不存在这样的期间：{detail}。",
    ),
    DeclineReason.PERIOD_NOT_BEGUN: (
        "On the day of the question this period had not begun: {detail}.",
        "到提问之日，该期间尚未开始：{detail}。",
    ),
    DeclineReason.PERIOD_NOT_COVERED: (
        "The question names a period that no document of the knowledge base covers.",
        "问题中的报告期在知识库中没有对应的文档。",
    ),
    DeclineReason.COMPANY_NOT_COVERED: (
        "The question names a company that no document of the knowledge base is about.",
        "问题中的公司在知识库中没有对应的文档。",
    ),
    DeclineReason.NO_EVIDENCE: (
        "The knowledge base has no passage to answer from that was out by {detail}. Add documents, ask as of a later"
        " day (as_of), or widen the filters.",
        "知识库中没有截至{detail}已发布的可用内容。请添加文档、使用更晚的提问日期（as_of），或放宽筛选条件。",
    ),
    DeclineReason.NOT_IN_EVIDENCE: (
        "Passages were found, and none of them answers the question.",
        "检索到了相关内容，但其中没有该问题的答案。",
    ),
    DeclineReason.ADVICE_ASKED: (
        "The question asks for advice or a forecast; only what the sources report can be answered.",
        "问题要求给出建议或预测；只能回答资料中已报告的内容。",
    ),
    DeclineReason.NOT_A_QUESTION: (
        "The text has no question about finance that could be looked up.",
        "所给文本中没有可供查证的财务问题。",
    ),
    DeclineReason.MODEL_REFUSED: (
        "The language model read the evidence and found no answer in it.",
        "语言模型阅读了资料，认为其中没有答案。",
    ),
    DeclineReason.EMPTY_ANSWER: (
        "The language model wrote nothing.",
        "语言模型没有写出任何内容。",
    ),
    DeclineReason.UNGROUNDED: (
        "Nothing that the reader wrote is supported by the evidence; it is not an answer and is not shown.",
        "阅读器写出的内容没有任何一句得到资料支持，不能作为回答，因此不予显示。",
    ),
    DeclineReason.WEAK_EVIDENCE: (
        "The evidence may not answer this, and it supports nothing that the reader wrote in full; it is not shown.",
        "检索到的内容可能不足以回答该问题，阅读器写出的内容也没有一句得到充分支持，因此不予显示。",
    ),
    DeclineReason.ALL_WITHHELD: (
        "What the reader wrote has no sentence whose figures the evidence supports; it is not shown.",
        "阅读器写出的内容中没有一句的数字得到资料支持，因此不予显示。",
    ),
}
"""The sentence of each reason, English and Chinese; {detail} is the period, or the day of the question."""


def refusal(text: str, language: str) -> str:
    """The sentence of a refusal: as the reader wrote it when it wrote nothing else, in the right language."""
    return text if text.strip(_ENDS) == REFUSALS[language] else REFUSALS[language]


def decline(reason: DeclineReason, language: str, detail: str = "") -> Decline:
    """A decline with its sentence in the question's language ("en" or "zh")."""
    return Decline(reason, DETAILS[reason][language == "zh"].format(detail=detail))
