"""Where the figures of code come from: numbers that were typed into it are followed to what it prints and reports.

The code is read, never run: each value is what its expression draws on, which is inputs (passages, files, calls of data
APIs, the question) and numbers that somebody typed. Numbers of arithmetic and of the calendar are no data, nor is what
only says how to look at the data (a window, a date, a comparison); a number that stands in the evidence is an input.
What is left taints all that is computed from it. Where the reading cannot follow, it taints too many rather than too
few. It says where honest code has its figures from; code that means to hide it can.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from quelea_gateway.core.agent.grounding.code_reading import Reading, TooMuch
from quelea_gateway.core.agent.grounding.flows import NOTHING, Flow, Known
from quelea_gateway.core.agent.grounding.results import HELPER


@dataclass(slots=True)
class Traced:
    """A piece of code with what it prints and reports followed back.

    Attributes:
        source: The code that is to run: its reports know their place, and what it prints of typed numbers is marked.
        reports: What the value of each report draws on, by its place.
        all_untraced: What it prints cannot be told apart: none of it is evidence.
        texts: Numbers in texts that it prints as they stand.
    """

    source: str
    reports: dict[int, Flow] = field(default_factory=dict)
    all_untraced: bool = False
    texts: frozenset[str] = frozenset()
    printed: Flow = NOTHING
    """What all that it prints draws on."""


@dataclass(slots=True)
class Session:
    """What the variables and files of a run's session draw on, kept from one piece of code to the next."""

    names: dict[str, Flow] = field(default_factory=dict)
    files: dict[str, Flow] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)
    functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda] = field(default_factory=dict)

    def trace(self, code: str, known: Known) -> Traced:
        """Follow a piece of code that parses."""
        tree = ast.parse(code)
        reading = Reading(self, known)
        try:
            reading.block(tree.body)
            reading.last(tree.body)
        except (TooMuch, RecursionError):
            reading.all_untraced = True
        return Traced(
            _mark(code, reading.reports, reading.prints, reading.shown_twice(tree.body)),
            {place: flow for place, (_, flow) in enumerate(reading.reports.values(), start=1)},
            reading.all_untraced,
            reading.printed.texts,
            reading.printed,
        )

    def copy(self) -> Session:
        """The same, to be changed apart."""
        return Session(dict(self.names), dict(self.files), dict(self.modules), dict(self.functions))

    def joined(self, other: Session) -> Session:
        """What may be, where one or the other is the case."""

        def both(one: dict[str, Flow], two: dict[str, Flow]) -> dict[str, Flow]:
            return {name: one.get(name, NOTHING) | two.get(name, NOTHING) for name in one | two}

        return Session(
            both(self.names, other.names), both(self.files, other.files), self.modules | other.modules,
            self.functions | other.functions,
        )  # fmt: skip

    def untraced_file(self, name: str) -> frozenset[str]:
        """The typed numbers that a file draws on."""
        return (self.files.get(name.rsplit("/", 1)[-1], NOTHING) | self.files.get("", NOTHING)).numbers


def _mark(
    code: str, reports: dict[int, tuple[ast.Call, Flow]], prints: dict[int, ast.Call], shown_twice: ast.stmt | None
) -> str:
    """The code with each report told its place, and what prints typed numbers changed; no line moves."""
    changes: list[tuple[int, int, int, str]] = []
    if shown_twice is not None:
        changes.append((shown_twice.lineno, shown_twice.col_offset, shown_twice.col_offset, "_ = "))
    for place, (node, _) in enumerate(reports.values(), start=1):
        row, column = node.func.end_lineno or 0, node.func.end_col_offset or 0
        changes.append((row, column, column, f".at({place})"))
    for node in prints.values():
        head = node.func
        changes.append((head.lineno, head.col_offset, head.end_col_offset or 0, f"__import__({HELPER!r}).untraced"))
    lines = [line.encode() for line in code.split("\n")]
    for row, start, after, text in sorted(changes, reverse=True):
        line = lines[row - 1]
        lines[row - 1] = line[:start] + text.encode() + line[after:]
    return b"\n".join(lines).decode()
