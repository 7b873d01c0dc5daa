"""Questions that a language model writes about passages, under a JSON schema."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from quelea_evaluation.endpoints.chat import Message
from quelea_evaluation.endpoints.work import run_all
from quelea_evaluation.omni.questions.generation import Calls, Failed

from quelea_training.pairs.model import Pair, Passage

PROMPT_VERSION = 1
KINDS = {
    "figure": ("asks for a figure that the passage states", "问原文给出的一个数字"),
    "cause": ("asks why something rose, fell or happened", "问某事发生或变动的原因"),
    "comparison": ("asks to compare two things or periods of the passage", "比较原文中的两项或两个期间"),
    "definition": ("asks what something is, includes or means", "问某事物是什么、包括什么"),
    "row": ("asks for a row of the table in one period", "问表中某一行在某期的数值"),
}
_LONGEST = 3000
_LONGEST_QUESTION = 300


def schema(kinds: Sequence[str]) -> dict[str, Any]:
    """Of a reply: a question of each kind that the passage answers, with the words of the passage that answer it."""
    text = {"type": "string", "minLength": 1, "maxLength": _LONGEST_QUESTION}
    item = {
        "type": "object",
        "properties": {"kind": {"type": "string", "enum": list(kinds)}, "question": text, "quote": text},
        "required": ["kind", "question", "quote"],
        "additionalProperties": False,
    }
    questions = {"type": "array", "items": item, "maxItems": len(kinds)}
    return {
        "type": "object",
        "properties": {"questions": questions},
        "required": ["questions"],
        "additionalProperties": False,
    }


def messages(passage: Passage, kinds: Sequence[str]) -> list[Message]:
    """What the model is told: in the language of the passage, with the company, which questions must name."""
    zh = passage.language == "zh"
    listed = "\n".join(f"- {kind}: {KINDS[kind][1 if zh else 0]}" for kind in kinds)
    if zh:
        task = (
            "你为金融检索系统编写问题。阅读资料，为每一类写一个只能由这段资料回答的问题；资料不能回答的类别就略去。"
            "问题要独立成句，写明公司与期间，不说“本文”“上表”。quote 照抄资料中回答问题的原文。\n"
        )
    else:
        task = (
            "You write questions for a search engine of finance. Read the passage and write, for each kind, a question "
            "that it answers; leave out kinds that it does not answer. A question stands alone: it names the company "
            "and the period and never says “the passage” or “the table”. quote: the words of the passage that answer, "
            "copied exactly.\n"
        )
    # The passage is data of others, whatever it says.
    return [
        {"role": "system", "content": task + listed},
        {"role": "user", "content": f"<passage>\n{passage.encoded[:_LONGEST]}\n</passage>"},
    ]


async def write_pairs(passages: Sequence[Passage], calls: Calls, concurrency: int) -> tuple[list[Pair], Counter[str]]:
    """Pairs in the order of the passages, and why others were dropped.

    Raises:
        Gone: The endpoint stopped answering; what it said is kept, and the next run goes on from there.
    """
    made: dict[str, list[Pair]] = {}
    dropped: Counter[str] = Counter()

    async def ask(passage: Passage) -> None:
        kinds = [kind for kind in KINDS if kind != "row" or passage.is_table]
        try:
            answer = await calls.ask("pairs", messages(passage, kinds), schema(kinds))
            made[passage.id] = list(_read(answer, passage, kinds, calls.model, dropped))
        except Failed as failure:
            dropped[str(failure)] += 1

    await run_all(passages, ask, concurrency)
    calls.check()
    return [pair for passage in passages for pair in made.get(passage.id, ())], dropped


def _read(
    answer: dict[str, Any], passage: Passage, kinds: Sequence[str], model: str, dropped: Counter[str]
) -> list[Pair]:
    found: list[Pair] = []
    questions = answer.get("questions")
    for one in questions if isinstance(questions, list) else ():
        kind, question, quote = (str(one.get(name, "")).strip() for name in ("kind", "question", "quote"))
        if kind not in kinds or not question or len(question) > _LONGEST_QUESTION:
            dropped["not of a kind that was asked for"] += 1
        elif _bare(quote) not in _bare(passage.encoded) or not quote:
            dropped["the quote is not in the passage"] += 1
        else:
            found.append(Pair.of(question, passage, kind, model))
    if not isinstance(questions, list):
        dropped["no list of questions"] += 1
    return found


def _bare(text: str) -> str:
    return "".join(text.split()).casefold()
