"""True answers of TAT-QA, docugami and ConvFinQA with the passages they rest on, for `quelea eval figures`."""

from __future__ import annotations

import csv
import fnmatch
import hashlib
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quelea_evaluation.judging.figures import amounts_of, figures_of, holds_rounded

_PLAIN = re.compile(r"(?:What|How much) (?P<be>is|was|are|were) (?P<what>the .{5,200}?)\s*\?", re.IGNORECASE)
_SOURCES = re.compile(r"\n?\(?SOURCE\(?S?\)?:.*?(?:\)|$)", re.IGNORECASE | re.MULTILINE)
_MOST = 12
_FEWEST = 4
"""Passages for an answer of docugami."""

Find = Callable[[str, str], Sequence[Mapping[str, str]]]
"""Passages of a document for a query, as POST /v1/check takes them."""


@dataclass(frozen=True)
class Item:
    """An answer and its evidence.

    Args:
        id: Unique; a corrupted one has its original's, with the kind of corruption behind it.
        group: "tatqa", "docugami", "convfinqa" (last questions) or "convfinqa look-ups" (questions for one cell).
        half: "development" or "frozen"; all that belongs to one table or filing question is in the same half.
            "unseen" for a set that no rule was written on.
        passages: As POST /v1/check takes them.
        corruption: One of corruption.KINDS; empty: a true answer.
        spot: Where the answer was corrupted; a code point of it.
        said_at: Where the answer itself begins, behind the question's words.
        operands: Of a computed answer, the numbers that it was computed from, as the set says.
    """

    id: str
    group: str
    half: str
    question: str
    answer: str
    passages: tuple[dict[str, str], ...]
    corruption: str = ""
    spot: int = 0
    said_at: int = 0
    operands: tuple[str, ...] = ()
    table: tuple[tuple[str, ...], ...] = field(default=(), repr=False)


def half_of(key: str) -> str:
    """ "frozen" for a quarter of the keys, always the same; the others are for development."""
    return "frozen" if hashlib.sha256(key.encode()).digest()[0] % 4 == 3 else "development"


def tatqa(data: Path) -> list[Item]:
    """Every question of TAT-QA dev whose answer has a figure, but for those that count things.

    The passages are the table, its rows as lines with tabs between the cells as Quelea's own parser gives them, and
    each paragraph. The answer is put into the question's words where it begins "What was the …".
    """
    contexts = json.loads((data / "tatqa" / "tatqa_dataset_dev.json").read_text(encoding="utf-8"))
    items = []
    for number, context in enumerate(contexts):
        table = tuple(tuple(cell.strip() for cell in row) for row in context["table"]["table"])
        rows = ["\t".join(cell for cell in row if cell) for row in table]
        paragraphs = sorted(context["paragraphs"], key=lambda p: p["order"])
        passages = ({"text": "\n".join(row for row in rows if row)}, *({"text": p["text"]} for p in paragraphs))
        for asked in context["questions"]:
            answer = _answer(asked)
            if asked["answer_type"] == "count" or not re.search(r"\d", answer):
                continue
            question = asked["question"].strip()
            said = _statement_of(question, answer)
            items.append(
                Item(
                    id=asked["uid"],
                    group="tatqa",
                    half=half_of(f"tatqa-{number}"),
                    question=question,
                    answer=said,
                    passages=passages,
                    said_at=said.rindex(answer),
                    operands=tuple(re.findall(r"\d[\d,]*(?:\.\d+)?", asked["derivation"])),
                    table=table,
                )
            )
    return items


def _answer(asked: Mapping[str, Any]) -> str:
    scale = str(asked["scale"])
    given = asked["answer"] if isinstance(asked["answer"], list) else [asked["answer"]]
    parts = []
    for one in given:
        text = f"{one:,}" if isinstance(one, (int, float)) else str(one).strip()
        year = re.fullmatch(r"(?:19|20)\d\d", text)
        plain = re.search(r"\d", text) and len(text) < 30 and not year and not re.search(r"%|illion|thousand", text)
        if scale == "percent" and plain:
            text += "%"
        elif scale and plain:
            text += f" {scale}"
        parts.append(text)
    return ", ".join(parts[:-1]) + f" and {parts[-1]}" if len(parts) > 1 else parts[0]


def _statement_of(question: str, answer: str) -> str:
    match = _PLAIN.fullmatch(question)
    if match is None or len(answer) > 80:
        return answer if answer.rstrip().endswith(".") else f"{answer}."
    what = re.sub(r",? respectively$", "", match["what"])
    return f"{what[0].upper()}{what[1:]} {match['be']} {answer}."


_OPERATION = re.compile(r"ans = (\S+) ([-+*/]) (\S+)")
_OPERAND = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")
_SHARE = re.compile(r"percent|growth|\brate\b|represent in relation")
_COUNTED = re.compile(r"\b(?:ratio|times|average|product|quotient|per|divided)\b")
_ROUND = re.compile(r"\d|12|10+(?:\.0)?")
_ECHO = re.compile(r"(\$ ?)?-?([\d.,]+)(%?) \( \2 ?%? \)")
_LARGEST_SHARE = 10


def convfinqa(data: Path) -> list[Item]:
    """Of each conversation of ConvFinQA's dev set, the last question with its answer; and questions for one figure.

    Answers are the numbers that the set's programs give: a quotient as a percentage, unless the question asks for a
    ratio or an average. The look-ups stand in their questions' words. Answers of "yes" and "no" are left out.
    """
    items = []
    for one in json.loads((data / "convfinqa" / "convfinqa_dev_pot.json").read_text(encoding="utf-8")):
        lines = [line.split(" | ") for line in one["table"].splitlines() if line.strip()]
        table = tuple(tuple(_as_printed(cell) for cell in line) for line in lines)
        rows = "\n".join("\t".join(line) for line in table)
        passages = tuple({"text": text} for text in (rows, one["text"]) if text.strip())
        for number, (question, program) in enumerate(zip(one["questions"], one["programs"], strict=True)):
            name = f"{one['id']} {number}"
            found = re.fullmatch(r"ans = (\d+(?:\.\d+)?)", program)
            plain = found and _statement_of(question, found[1])
            if found and plain and plain != f"{found[1]}." and number < len(one["questions"]) - 1:
                items.append(
                    Item(name, "convfinqa look-ups", "unseen", question, plain, passages,
                         said_at=plain.rindex(found[1]), table=table)
                )  # fmt: skip
        if isinstance(one["answer"], int | float):
            answer = _of_program(one["answer"], one["programs"][-1], one["questions"][-1])
            operands = tuple(number.lstrip("-") for number in _OPERAND.findall(one["programs"][-1]))
            items.append(
                Item(one["id"], "convfinqa", "unseen", " ".join(one["questions"]), f"{answer}.", passages,
                     operands=operands, table=table)
            )  # fmt: skip
    return items


def _as_printed(cell: str) -> str:
    """The cell as the filing prints it: the set writes "$ -68 ( 68 )" for "$ (68)" and "27% ( 27 % )" for "27%"."""
    text = " ".join(cell.split())
    found = _ECHO.fullmatch(text)
    if found is None:
        return "" if text == "-" else text
    number = found[2] + found[3]
    return f"{found[1] or ''}({number})" if "-" in text else f"{found[1] or ''}{number}"


def _of_program(value: float, program: str, question: str) -> str:
    last = _OPERATION.search(program)
    divisor = last[3] if last and last[2] == "/" else ""
    ratio = _ROUND.fullmatch(divisor) or _COUNTED.search(question)
    if divisor and abs(value) < _LARGEST_SHARE and (_SHARE.search(question) or not ratio):
        return f"{value * 100:.1f}%"
    text = f"{value:,.2f}" if divisor else f"{value:,.3f}"
    return text.rstrip("0").rstrip(".")


def docugami(data: Path, documents: Collection[str], find: Find) -> tuple[list[Item], int]:
    """Answers about one filing, all of whose figures its passages hold, as written or rounded; and how many do not.

    Args:
        documents: The filings' file names without .pdf.
        find: The product's passages of a filing for an answer.
    """
    items, left_out = [], 0
    with (data / "docugami_sec10q" / "qna_data.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows):
        named = [key for key in sorted(documents) if fnmatch.fnmatch(key, row["Source Docs"].strip())]
        answer = _SOURCES.sub("", row["Answer"]).strip()
        if len(named) != 1 or not figures_of(answer):
            continue
        question = row["Question"].strip()
        found = find(named[0], f"{question}\n{answer}")
        chosen = _choose_passages(answer, [f"{p.get('table_head', '')}\n{p['text']}" for p in found])
        if chosen is None:
            left_out += 1
            continue
        half = half_of(f"docugami-{number}")
        passages = tuple(dict(found[n]) for n in chosen)
        items.append(Item(f"docugami-{number}", "docugami", half, question, answer, passages))
    return items, left_out


_DATE = re.compile(r"\b(?P<m>[A-Z][a-z]{2})[a-z]*\.? (?P<d>\d{1,2}), (?P<y>20\d\d)")
_MONTH = re.compile(r"\b(?:January|February|March|April|June|July|August|September|October|November|December) 20\d\d")
_SMALL = re.compile(r"(?<![\w.,$-])\$?(\d{1,2}) ?(?:million|billion|%|percent|months|years)")


def _choose_passages(answer: str, passages: Sequence[str]) -> list[int] | None:
    """The passages that hold the answer's figures, those with most first; None when one stands nowhere."""
    figures, amounts = figures_of(answer), amounts_of(answer)
    held: dict[int, set[str]] = {}
    for n, text in enumerate(passages):
        for figure in figures:
            own = frozenset(a for a in amounts if a[0] == figure)
            if holds_rounded(text, frozenset({figure}), own):
                held.setdefault(n, set()).add(figure)
    if set().union(*held.values()) != figures if held else True:
        return None
    for match in _DATE.finditer(answer):
        day = re.compile(rf"{match['m']}[a-z]*\.?\s+{match['d']},\s+{match['y']}")
        _add_best(held, [n for n, text in enumerate(passages) if day.search(text)], match.group())
    for match in _MONTH.finditer(answer):
        _add_best(held, [n for n, text in enumerate(passages) if match.group() in text], match.group())
    for match in _SMALL.finditer(answer):  # too short to be looked for alone: in a passage with another of the figures
        small = re.compile(rf"(?<![\d.,]){match[1]}(?![\d,]|\.\d)")
        _add_best(held, [n for n, text in enumerate(passages) if small.search(text)], match.group())
    wanted = set().union(*held.values())
    order = sorted(held, key=lambda n: (-len(held[n]), n))
    chosen: list[int] = []
    covered: set[str] = set()
    for n in order:
        if len(chosen) < _FEWEST or held[n] - covered:
            chosen.append(n)
            covered |= held[n]
    return sorted(chosen[:_MOST]) if covered == wanted and len(chosen) <= _MOST else None


def _add_best(held: dict[int, set[str]], passages: Sequence[int], what: str) -> None:
    """Note that the passage with most of the figures has this too."""
    best = max(passages, key=lambda n: (len(held.get(n, ())), -n), default=None)
    if best is not None:
        held.setdefault(best, set()).add(what)
