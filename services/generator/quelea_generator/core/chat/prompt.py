"""The prompt: rules, dated evidence, the date of the question, the question (after WeaverBird, Listing 1).

The rules come first, so that an engine that remembers beginnings reads them once and not with every question. The
wording is in `templates/answer.*.txt`; its version is reported with every answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from quelea_fintext.dates import parse_iso
from quelea_fintext.instructions import reads_like_instructions, strip_invisible
from quelea_fintext.languages import REFUSALS
from quelea_fintext.text import estimate_tokens, language_of

from quelea_generator.core.chat import prompt_files
from quelea_generator.core.chat.prompt_files import template_for
from quelea_generator.core.figures import write_figures
from quelea_generator.core.model import Evidence, Task, Turn

LEFT_OUT = "..."
_SMALLEST_PIECE = 40
"""Tokens of room below which a passage is left out whole: less would be a crumb."""
_TAG = re.compile(r"[<＜﹤〈](?=\s*[/／!|<＜﹤〈A-Za-z_])")  # signs that a model reads as "<"
"""What may begin a tag: that of a fence, or one of a chat template such as <|im_end|>."""
_TURN = re.compile(r"\[(?=\s{0,8}+/?\s{0,8}+(?:INST|SYS)\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Message:
    """One message for a chat model."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent, and which evidence (by number) is in it."""

    messages: tuple[Message, ...]
    version: str
    numbers: tuple[int, ...]


AnswerTemplate = Literal["answer", "short_answer"]
"""What a model is told: everything, or the little that a small one follows. The short one asks for plain figures and
does not say how to decline: small models then decline what they could answer."""


def versions(name: AnswerTemplate = "answer") -> str:
    """The versions of the answer's templates, as GetInfo reports them."""
    return prompt_files.versions(name)


def escape_passage(text: str) -> str:
    """The text without what could close a fence, open a turn of the conversation, or is read without being seen."""
    return _TURN.sub("［", _TAG.sub("‹", strip_invisible(text)))  # no bracket that a chat template knows


def context_line(evidence: Evidence, text: str, warning: str = "") -> str:
    """`[n] DATE: (header) text`; further lines are indented, so that no line of a passage can pose as another one.

    A passage of an unapproved web page stands in a fence of its own, which nothing inside can close. The warning is
    shown before a passage that reads like instructions, whoever noticed it.
    """
    parts = [f"({evidence.header})" if evidence.header else "", evidence.table_head, text]
    body = escape_passage("\n".join(part for part in parts if part))
    if warning and (evidence.suspicious or reads_like_instructions(body)):
        body = f"{warning}\n{body}"
    if evidence.from_web:
        body = f"<web_page>\n{body}\n</web_page>"
    lines = "\n    ".join(re.split(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", body))
    day = evidence.date if parse_iso(evidence.date) else "-"
    return f"[{evidence.number}] {day}: {lines}"


def fit_evidence(evidence: tuple[Evidence, ...], budget: int, warning: str = "") -> list[tuple[Evidence, str]]:
    """The best evidence that fits into the budget (tokens, estimated), with the text to show of each.

    Order is rank. The passage that reaches the limit is cut at a line or sentence; those after it are left out.
    """
    chosen: list[tuple[Evidence, str]] = []
    left = budget
    for item in evidence:
        cost = estimate_tokens(context_line(item, item.text, warning)) + 1
        if cost <= left:
            chosen.append((item, item.text))
            left -= cost
            continue
        marked = replace(item, suspicious=item.suspicious or reads_like_instructions(item.text))
        room = left - estimate_tokens(context_line(marked, "", warning)) - 4  # "..." and what rounding hides
        if room >= _SMALLEST_PIECE:
            piece = _cut(item.text, room)
            if piece:
                chosen.append((item, f"{piece} {LEFT_OUT}"))
        break
    return chosen


def _cut(text: str, room: int) -> str:
    """The beginning of the text that fits, whole lines and sentences only."""
    kept = ""
    for piece in re.findall(r".+?(?:[.!?]\s+|[。！？；]|\n|\Z)", text, re.DOTALL):
        if estimate_tokens(kept + piece) > room:
            break
        kept += piece
    return kept.rstrip()


def _remember(history: tuple[Turn, ...], budget: int) -> list[Message]:
    """The newest turns that fit; the oldest go first."""
    kept: list[Message] = []
    for turn in reversed(history):
        budget -= estimate_tokens(turn.text)
        if budget < 0:
            break
        kept.append(Message("assistant" if turn.role == "assistant" else "user", turn.text))
    return kept[::-1]


def build_prompt(task: Task, *, evidence_tokens: int, history_tokens: int, name: AnswerTemplate = "answer") -> Prompt:
    """The messages for a task, in the language of its question."""
    language = language_of(task.question)
    template = template_for(name, language, task.edits)
    warning = template.parts["warning"]
    chosen = fit_evidence(task.evidence, evidence_tokens, warning)
    shown = {item.number for item, _ in chosen}
    figures = [one for one in task.figures if shown.issuperset(operand.number for operand in one.operands)]
    stated = [escape_passage(line.text) for line in write_figures(figures, task.evidence, language, task.question)]
    content = template.fill(
        "user",
        context="\n".join([*(context_line(item, text, warning) for item, text in chosen), *stated]),
        current_date=task.as_of.isoformat(),
        question=escape_passage(task.question.strip()),
    )
    messages = (
        Message("system", template.fill("system", refusal=REFUSALS[language])),
        *_remember(task.history, history_tokens),
        Message("user", content),
    )
    return Prompt(messages, template.version, tuple(item.number for item, _ in chosen))
