"""What the final figures may rest on: outputs of code, calls to data providers, passages."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from quelea_checker import CheckPassage
from quelea_fintext.times.periods import find_periods

from quelea_gateway.core.agent.decision.parsing import canonical
from quelea_gateway.core.agent.decision.token_budget import cut_middle, defuse, tokens
from quelea_gateway.core.agent.model import Source
from quelea_gateway.core.model import Passage
from quelea_gateway.core.statements.statement_grid import Figure

_LONGEST = 24_000
_EXCERPT = 600
_MOST = 80
_MOST_OF_FOLLOWED = 40
_FULL = 160
"""Sources of a run and those that it follows: a session with so many is not gone on in."""
_PRINTED = re.compile(r"(?<![\d.,])\d[\d,]*+(?:\.\d++)?+")
_PERCENT = re.compile(r"(?<![\d.,])(\d[\d,]*+(?:\.\d++)?+)\s?[%％]")
_THOUSANDS = re.compile(r"(?<![\d.,/-])\d{1,3}(?:,\d{3})+(?![\d,])")
_JSON_TEXT = re.compile(r'"(?:[^"\\]|\\[\s\S])*+(?:"|\\?\Z)|(,)')
_YEARS_JOINED = re.compile(r"(?<=\b[12]\d\d\d)\s?[-–—~～]\s?(?=[12]\d\d\d(?!\d))")
_COUNTS = r"\b(?:days|sessions|rows|count|observations|prices|closes|returns)\b|交易日|天数|行数|样本数"
_SHORT = 3
"""Significant digits from which on a typed whole number that stands in the evidence is taken to come from there."""


@dataclass(frozen=True, slots=True)
class Item:
    """A source with its whole text.

    Attributes:
        checked: The text as the checker reads it: cells apart.
        traced: The same of an execution without what draws on typed numbers; of others equal to `checked`.
        typed: Of an execution: numbers in texts that its code prints as they stand.
    """

    source: Source
    text: str
    checked: str
    traced: str
    header: str = ""
    table_head: str = ""
    published: str = ""
    typed: frozenset[str] = frozenset()


@dataclass(slots=True)
class Evidence:
    """The numbered sources of a run, in the order in which they came."""

    items: list[Item] = field(default_factory=list)
    typed: set[str] = field(default_factory=set)
    """The numbers in texts that any code printed so far: a variable keeps them from step to step."""
    settings: set[str] = field(default_factory=set)
    """Every number typed into code so far: windows and the like."""
    most: int = _MOST
    """Sources; further ones are not taken."""
    _printed: dict[str, str] = field(default_factory=dict)
    """Every number of passages and calls, to the first that has it."""

    def _add(self, source: Source, text: str, *, checked: str = "", traced: str | None = None, **more: Any) -> int:
        for item in self.items:
            same = item.source.kind == source.kind and item.text == text and item.header == more.get("header", "")
            if same and source.kind != "execution":
                return item.source.number
        if len(self.items) >= self.most:
            return 0
        number = len(self.items) + 1
        source = replace(source, number=number, excerpt=text[:_EXCERPT])
        checked = checked or text
        self.items.append(Item(source, text, checked, checked if traced is None else traced, **more))
        if source.kind != "execution":
            self._note(f"{source.kind} {number}", "\n".join((more.get("table_head", ""), text)))
        return number

    def _note(self, name: str, text: str) -> None:
        for match in _PRINTED.finditer(text):
            self._printed.setdefault(canonical(match[0]), name)
        for match in _PERCENT.finditer(text):  # "21 %" is typed as .21
            self._printed.setdefault(canonical(f"{float(match[1].replace(',', '')) / 100:.12g}"), name)

    def source_of(self, number: str) -> str:
        """What prints a typed number: "passage 3", "call 4"; empty: nothing, or it is too short to tell."""
        if "." not in number and len(number.strip("0")) < _SHORT:
            return ""
        return self._printed.get(number, "")

    def execution(
        self, step: int, title: str, output: str, *, day: str, kind: str = "", traced: str | None = None,
        typed: frozenset[str] = frozenset(), run: str = "",
    ) -> int:  # fmt: skip
        """The output of code, or a table that it wrote.

        Args:
            kind: "csv" or "json"; else it is as it was printed.
            traced: The part that draws on no typed number; None: all of it.
            typed: Numbers in texts that the code prints as they stand.
            run: The run before this one that it is of.
        """
        self.typed |= typed
        rest = None if traced is None else cells(_bound(traced), kind)
        source = Source(0, "execution", title, step, run=run)
        return self._add(
            source, _bound(output), checked=cells(_bound(output), kind), traced=rest,
            header=title, published=day, typed=frozenset(self.typed),
        )  # fmt: skip

    def call(self, step: int, call: dict[str, Any], body: str) -> int:
        """A call to a data provider, with what it brought."""
        source = Source(
            0, "call", call["url"][:300], step, url=call["url"], fetched=call["fetched"], sha256=call["sha256"],
            call_id=call["id"],
        )  # fmt: skip
        media = str(call.get("media_type", "")).lower()
        kind = next((one for one in ("json", "csv") if one in media), "")
        text = _bound(body)
        return self._add(
            source, text, checked=cells(text, kind), header=call["url"][:200], published=call["fetched"][:10]
        )

    def passage(self, step: int, passage: Passage) -> int:
        """A passage of a stored document or of a page of the web."""
        source = Source(
            0, "passage", passage.title or passage.uri or passage.document_id, step, url=passage.uri,
            fetched=passage.fetched, document_id=passage.document_id, page=passage.page, start=passage.start,
            end=passage.end,
        )  # fmt: skip
        return self._add(
            source, passage.text, header=passage.header, table_head=passage.table_head, published=passage.published
        )

    def figures(self, step: int, figures: Sequence[Figure], text: str) -> int:
        """Figures of one page's statement, as text; it opens where the page prints them."""
        first = figures[0]
        source = Source(
            0, "passage", first.title or first.document_id, step, url=first.uri, document_id=first.document_id,
            page=first.page, start=min(one.start for one in figures), end=max(one.end for one in figures),
        )  # fmt: skip
        header = " · ".join(part for part in (first.company, first.title, first.statement.replace("_", " ")) if part)
        return self._add(source, text, header=header, published=first.published)

    def passages(self, *, traced: bool = True) -> list[CheckPassage]:
        """For the checker; their numbers are those of the sources.

        Args:
            traced: Of executions only what draws on no typed number.
        """
        return [
            CheckPassage(
                item.traced if traced else item.checked,
                item.table_head,
                "" if item.source.kind == "execution" else item.header,  # "Output of step 3" is no company's name
                item.published,
            )
            for item in self.items
        ]

    def results(self) -> list[CheckPassage]:
        """The same, traced, with nothing but the lines of executions that name several periods: results over them."""
        return [
            replace(one, text="\n".join(filter(names_several_periods, one.text.split("\n"))))
            if item.source.kind == "execution"
            else CheckPassage("")
            for item, one in zip(self.items, self.passages(), strict=True)
        ]

    @property
    def is_full(self) -> bool:
        """Whether there is no room for the sources of a follow-up."""
        return len(self.items) + _MOST_OF_FOLLOWED > _FULL

    def hand_on(self, run_id: str) -> None:
        """Make these the sources of an earlier run, with room for those of the one that follows it."""
        self.items = [item if item.source.run else _handed_on(item, run_id) for item in self.items]
        self.most = max(_MOST, len(self.items) + _MOST_OF_FOLLOWED)

    def is_counted(self, number: str) -> bool:
        """Whether code printed the whole number as how many days, rows or observations there are, typing nothing."""
        pattern = re.compile(rf"(?:{_COUNTS})\D{{0,40}}(?<![\d.,-]){number}(?![\d.,%])", re.IGNORECASE)
        return any(item.source.kind == "execution" and pattern.search(item.traced) for item in self.items)

    def is_printed(self, number: str) -> bool:
        """Whether a passage or a call prints the number, however it is separated."""
        return canonical(number) in self._printed

    @property
    def has_untraced(self) -> bool:
        """Whether code printed something that draws on typed numbers."""
        return any(item.traced != item.checked for item in self.items)

    def as_json(self) -> bytes:
        """The passages so far, for the sandbox: their number, document, page, day and text."""
        found = [
            {
                "id": item.source.number,
                "document": item.source.title,
                "page": item.source.page,
                "published": item.published,
                "text": "\n".join(part for part in (item.table_head, item.text) if part),
            }
            for item in self.items
            if item.source.kind == "passage"
        ]
        return json.dumps(found, ensure_ascii=False, indent=1).encode("utf-8", "replace")

    def shown(self, budget: int) -> str:
        """The sources for the model, cut to the budget: results of code first, then passages, then raw calls.

        A raw answer of a provider is shown only when no code reported on it, as code has it in a better form.
        """
        rank = {"execution": 0, "passage": 1, "call": 2}
        outputs = any(item.source.kind == "execution" and item.text.strip() for item in self.items)
        order = sorted(
            (item for item in self.items if not (outputs and item.source.kind == "call")),
            key=lambda item: (rank[item.source.kind], -item.source.number),
        )
        shown: dict[int, str] = {}
        for place, item in enumerate(order):
            if budget < 30:
                break
            head = f"[{item.source.number}] {defuse(item.header or item.source.title)[:160]}"
            if item.published:
                head += f" ({item.published})"
            room = max(30, budget // max(1, min(4, len(order) - place)) - tokens(head))
            body = defuse("\n".join(part for part in (item.table_head, _said(item)) if part))
            piece = f"{head}\n{cut_middle(body, room)}"
            shown[item.source.number] = piece
            budget -= tokens(piece)
        return "\n\n".join(shown[number] for number in sorted(shown)) or "-"

    def last_output(self) -> Item | None:
        """The last thing that code printed."""
        outputs = [item for item in self.items if item.source.kind == "execution" and item.text.strip()]
        return outputs[-1] if outputs else None


def _handed_on(item: Item, run_id: str) -> Item:
    """The item as one of an earlier run; outputs are named by their step, which the run that follows counts anew."""
    if item.source.kind != "execution":
        return replace(item, source=replace(item.source, run=run_id))
    title = f"{item.source.title} (earlier run)"
    return replace(item, source=replace(item.source, run=run_id, title=title), header=title)


def _said(item: Item) -> str:
    """The text, with what draws on typed numbers said to be so."""
    if item.traced == item.checked:
        return item.text
    traced = set(item.traced.split("\n"))
    lines = zip(item.text.split("\n"), item.checked.split("\n"), strict=False)
    return "\n".join(f"{line} (not traced)" if line.strip() and read not in traced else line for line, read in lines)


def names_several_periods(text: str) -> bool:
    """Whether a text is about more than one year, quarter or day: "from fiscal 2023 to fiscal 2025", "2023-2025"."""
    read = find_periods(_YEARS_JOINED.sub(" to ", text))
    return len({(one.year, one.part, one.day) for one in read}) > 1


def cells(text: str, kind: str = "") -> str:
    """Text whose commas separate cells, with tabs instead: the checker would read "2026-11-09,181.25" as one thing.

    Commas within numbers ("1,234") and within texts stay.

    Args:
        kind: "csv" or "json"; else lines are changed that look like CSV: as many commas as a neighbour, and not all of
            them within numbers.
    """
    if kind == "csv":
        try:
            return "\n".join("\t".join(row) for row in csv.reader(io.StringIO(text)))
        except csv.Error:
            return text
    if kind == "json":
        return _JSON_TEXT.sub(lambda match: "\t" if match[1] else match[0], text)
    lines = text.split("\n")
    counts = [0 if ", " in line else line.count(",") for line in lines]
    named = False  # the run of lines began with the names of its columns
    for index, count in enumerate(counts):
        before, after = counts[index - 1] if index else 0, counts[index + 1] if index + 1 < len(counts) else 0
        if not count or count not in (before, after):
            continue
        line = lines[index]
        named = (named and count == before) or not any(char.isdigit() for char in line)
        inside = set() if named else set(_inside(line))
        if len(inside) < count:
            lines[index] = "".join("\t" if char == "," and at not in inside else char for at, char in enumerate(line))
    return "\n".join(lines)


def _inside(line: str) -> Iterator[int]:
    """Where the commas are that stand within numbers."""
    for match in _THOUSANDS.finditer(line):
        yield from (at for at in range(match.start(), match.end()) if line[at] == ",")


def _bound(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return text[: _LONGEST * 2 // 3] + "\n...\n" + text[-_LONGEST // 3 :]


def sources(evidence: Evidence, used: Sequence[int]) -> tuple[Source, ...]:
    """All sources, those that the answer uses marked; with an execution the calls that brought its data.

    These are the calls of its own step or, when it made none and worked on variables, of the last step that made some.
    """
    found = [item.source for item in evidence.items]
    runs = {run: place for place, run in enumerate(dict.fromkeys(one.run for one in found))}
    when = {one.number: (runs[one.run], one.step) for one in found}
    wanted = set(used)
    for step in {when[one.number] for one in found if one.number in wanted and one.kind == "execution"}:
        made = [when[one.number] for one in found if one.kind == "call" and when[one.number] <= step]
        wanted |= {one.number for one in found if one.kind == "call" and made and when[one.number] == max(made)}
    return tuple(replace(one, used=one.number in wanted) for one in found)
