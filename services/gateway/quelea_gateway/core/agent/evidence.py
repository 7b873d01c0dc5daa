"""What the final figures may rest on: outputs of code, calls to data providers, passages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from quelea_checker import CheckPassage

from quelea_gateway.core.agent.model import Source
from quelea_gateway.core.agent.parsing import literals
from quelea_gateway.core.agent.token_budget import cut_middle, defuse, tokens
from quelea_gateway.core.model import Passage
from quelea_gateway.core.statement_grid import Figure

_LONGEST = 24_000
_EXCERPT = 600
_MOST = 80


@dataclass(frozen=True, slots=True)
class Item:
    """A source with its whole text; of an execution also the numbers typed into its code."""

    source: Source
    text: str
    header: str = ""
    table_head: str = ""
    published: str = ""
    typed: frozenset[str] = frozenset()


@dataclass(slots=True)
class Evidence:
    """The numbered sources of a run, in the order in which they came."""

    items: list[Item] = field(default_factory=list)
    typed: set[str] = field(default_factory=set)
    """The numbers typed into any code so far: a variable keeps them from step to step."""

    def _add(self, source: Source, text: str, **more: Any) -> int:
        for item in self.items:
            same = item.source.kind == source.kind and item.text == text and item.header == more.get("header", "")
            if same and source.kind != "execution":
                return item.source.number
        if len(self.items) >= _MOST:
            return 0
        number = len(self.items) + 1
        source = replace(source, number=number, excerpt=text[:_EXCERPT])
        self.items.append(Item(source, text, **more))
        return number

    def execution(self, step: int, title: str, output: str, code: str, *, day: str, separated: bool = False) -> int:
        """The output of code, or a table that it wrote."""
        self.typed |= literals(code)
        return self._add(
            Source(0, "execution", title, step), cells(_bound(output), separated=separated), header=title,
            published=day, typed=frozenset(self.typed),
        )  # fmt: skip

    def call(self, step: int, call: dict[str, Any], body: str) -> int:
        """A call to a data provider, with what it brought."""
        source = Source(
            0, "call", call["url"][:300], step, url=call["url"], fetched=call["fetched"], sha256=call["sha256"],
            call_id=call["id"],
        )  # fmt: skip
        text = cells(_bound(body), separated=True)
        return self._add(source, text, header=call["url"][:200], published=call["fetched"][:10])

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

    def passages(self) -> list[CheckPassage]:
        """For the checker; their numbers are those of the sources."""
        return [CheckPassage(item.text, item.table_head, item.header, item.published) for item in self.items]

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
            body = defuse("\n".join(part for part in (item.table_head, item.text) if part))
            piece = f"{head}\n{cut_middle(body, room)}"
            shown[item.source.number] = piece
            budget -= tokens(piece)
        return "\n\n".join(shown[number] for number in sorted(shown)) or "-"

    def last_output(self) -> Item | None:
        """The last thing that code printed."""
        outputs = [item for item in self.items if item.source.kind == "execution" and item.text.strip()]
        return outputs[-1] if outputs else None


def cells(text: str, *, separated: bool = False) -> str:
    """Text whose commas separate cells, with tabs instead: the checker would read "2026-11-09,181.25" as one thing.

    Args:
        separated: It is known to be CSV or JSON; else only runs of lines that look like CSV are changed.
    """
    if separated:
        return re.sub(r",(?!\s)", "\t", text)
    lines = text.split("\n")
    counts = [0 if ", " in line else line.count(",") for line in lines]
    for index, count in enumerate(counts):
        alike = {counts[index - 1] if index else 0, counts[index + 1] if index + 1 < len(counts) else 0}
        if count and count in alike:
            lines[index] = lines[index].replace(",", "\t")
    return "\n".join(lines)


def _bound(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return text[: _LONGEST * 2 // 3] + "\n...\n" + text[-_LONGEST // 3 :]


def sources(evidence: Evidence, used: Sequence[int]) -> tuple[Source, ...]:
    """All sources, those that the answer uses marked; with an execution the calls that brought its data.

    These are the calls of its own step or, when it made none and worked on variables, of the last step that made some.
    """
    found = [item.source for item in evidence.items]
    wanted = set(used)
    for step in {one.step for one in found if one.number in wanted and one.kind == "execution"}:
        made = [one.step for one in found if one.kind == "call" and one.step <= step]
        wanted |= {one.number for one in found if one.kind == "call" and made and one.step == max(made)}
    return tuple(replace(one, used=one.number in wanted) for one in found)
