"""Python code, read without running it: each value is what its expression draws on."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from quelea_gateway.core.agent.decision.parsing import canonical
from quelea_gateway.core.agent.grounding.flows import NOTHING, Flow, Known, is_constant, join, numbers_in
from quelea_gateway.core.agent.grounding.library_names import (
    COMPUTING,
    NAMED,
    OF_DATA,
    ONTO_HANDLES,
    PARSERS,
    PRINTERS,
    READERS,
    SETTINGS,
    TO_TEXT,
    WRITERS,
)
from quelea_gateway.core.agent.grounding.results import EVIDENCE, HELPER

if TYPE_CHECKING:
    from quelea_gateway.core.agent.grounding.provenance import Session

_FILE = re.compile(r"[\w./ -]{1,200}\.[A-Za-z]\w{0,8}")
_MADE_UP = "random"
_SOME_FILE = "a file"
"""Input of what `open` gives for a name that the code makes."""
_MOST_STEPS = 20_000
_DEEPEST = 6


class TooMuch(Exception):
    """The code takes too long to follow."""


class Reading:
    """One reading of a piece of code; it changes the session that it is given.

    Attributes:
        reports: Its reports of results, each with what the value draws on.
        prints: What prints typed numbers, and can be marked.
        printed: What all that it prints draws on.
        all_untraced: It prints typed numbers in a way that cannot be marked.
    """

    def __init__(self, session: Session, known: Known) -> None:
        self.session, self.known = session, known
        self.names = session.names
        self.reports: dict[int, tuple[ast.Call, Flow]] = {}
        self.prints: dict[int, ast.Call] = {}
        self.printed = NOTHING
        self.all_untraced = False
        self._returned = NOTHING
        self._steps, self._depth = 0, 0

    # Statements

    def block(self, body: Sequence[ast.stmt]) -> None:
        """Statements, one after the other. Raises TooMuch."""
        for one in body:
            self._statement(one)

    def last(self, body: Sequence[ast.stmt]) -> None:
        """The value of a last expression is printed; of a call that draws a line it is nothing to read."""
        if not body or not isinstance(body[-1], ast.Expr):
            return
        value = body[-1].value
        if isinstance(value, ast.Call):
            if self._name(value.func) in ("print", f"{HELPER}.report"):
                return
            flow = self.value(value.func.value) if isinstance(value.func, ast.Attribute) else self.value(value)
        else:
            flow = self.value(value)
        self._shown(flow)

    def shown_twice(self, body: Sequence[ast.stmt]) -> ast.stmt | None:
        """A last expression that reports: it is printed as a result already, and its value would be once more."""
        last = body[-1] if body else None
        value = last.value if isinstance(last, ast.Expr) else None
        return last if isinstance(value, ast.Call) and self._name(value.func) == f"{HELPER}.report" else None

    def _shown(self, flow: Flow) -> None:
        """It is printed in a way that cannot be marked."""
        self.printed |= Flow(flow.numbers)
        self.all_untraced = self.all_untraced or bool(flow.numbers)

    def _statement(self, node: ast.stmt) -> None:  # noqa: C901, PLR0912  # a case for each kind of statement
        self._count()
        match node:
            case ast.Import():
                for alias in node.names:
                    self.session.modules[alias.asname or alias.name.split(".")[0]] = (
                        alias.name if alias.asname else alias.name.split(".")[0]
                    )
            case ast.ImportFrom():
                for alias in node.names:
                    self.session.modules[alias.asname or alias.name] = f"{node.module or ''}.{alias.name}"
            case ast.Assign():
                for target in node.targets:
                    self._assign(target, node.value)
            case ast.AnnAssign() if node.value is not None:
                self._assign(node.target, node.value)
            case ast.AugAssign():
                self._bind(node.target, self.value(node.target) | self.value(node.value))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.session.functions[node.name] = node
                self.session.modules.pop(node.name, None)
            case ast.ClassDef():
                flow = join(self._constant(one.value) for one in ast.walk(node) if isinstance(one, ast.Constant))
                self.names[node.name] = Flow(flow.numbers | self._parsed(flow.texts))
            case ast.If():
                self.value(node.test)
                self._branches(node.body, node.orelse)
            case ast.For() | ast.AsyncFor():
                self._bind(node.target, self.value(node.iter))
                self._branches([*node.body, *node.body], [])
                self.block(node.orelse)
            case ast.While():
                self._branches([*node.body, *node.body], node.orelse)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    flow = self.value(item.context_expr)
                    if item.optional_vars is not None:
                        self._bind(item.optional_vars, flow)
                self.block(node.body)
            case ast.Try() | ast.TryStar():
                self._branches(node.body, [])
                for handler in node.handlers:
                    self._branches(handler.body, [])
                self.block([*node.orelse, *node.finalbody])
            case ast.Match():
                self.value(node.subject)
                for one in node.cases:
                    self._branches(one.body, [])
            case ast.Return() if node.value is not None:
                self._returned |= self.value(node.value)
            case ast.Expr():
                self._expression(node.value)
            case _:
                pass

    def _branches(self, first: Sequence[ast.stmt], second: Sequence[ast.stmt]) -> None:
        before = dict(self.names)
        self.block(first)
        after = self.names
        self.names = before
        self.block(second)
        for name, flow in after.items():
            self.names[name] = self.names.get(name, NOTHING) | flow

    def _expression(self, node: ast.expr) -> None:
        """For its effect: what a method is given may become part of what it is called on."""
        flow = self.value(node)
        call = node.value if isinstance(node, ast.Await) else node
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            root = _root(call.func)
            if root in self.names:
                self.names[root] |= flow

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        pairs = isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List)
        if pairs and len(target.elts) == len(value.elts):  # type: ignore[attr-defined]  # just seen to be of both
            for one, given in zip(target.elts, value.elts, strict=True):  # type: ignore[attr-defined]  # the same
                self._assign(one, given)
            return
        if isinstance(target, ast.Name) and isinstance(value, ast.Lambda):
            self.session.functions[target.id] = value
            return
        self._bind(target, self.value(value))

    def _bind(self, target: ast.expr, flow: Flow) -> None:
        if isinstance(target, ast.Name):
            self.names[target.id] = flow
            self.session.functions.pop(target.id, None)
            self.session.modules.pop(target.id, None)
        elif isinstance(target, ast.Tuple | ast.List):
            for one in target.elts:
                self._bind(one, flow)
        elif isinstance(target, ast.Starred):
            self._bind(target.value, flow)
        else:
            root = _root(target)
            self.names[root] = self.names.get(root, NOTHING) | flow

    # Values

    def value(self, node: ast.expr | None) -> Flow:  # noqa: C901, PLR0912  # a case for each kind
        """What an expression draws on. Raises TooMuch."""
        if node is None:
            return NOTHING
        self._count()
        match node:
            case ast.Constant():
                return self._constant(node.value)
            case ast.Name():
                if node.id in self.session.functions:
                    return self._call_own(node.id, [], {})
                return self.names.get(node.id, NOTHING)
            case ast.Attribute() | ast.Starred() | ast.Await() | ast.FormattedValue():
                return self.value(node.value)
            case ast.Subscript():
                self.value(node.slice)
                return self.value(node.value)
            case ast.BinOp(op=ast.Pow(), right=right) if _is_count(right):
                return self.value(node.left)
            case ast.BinOp():
                return self.value(node.left) | self.value(node.right)
            case ast.UnaryOp():
                return self.value(node.operand)
            case ast.Compare():
                flow = join(self.value(one) for one in (node.left, *node.comparators))
                return Flow(inputs=flow.inputs)
            case ast.IfExp():
                self.value(node.test)
                return self.value(node.body) | self.value(node.orelse)
            case ast.BoolOp() | ast.JoinedStr():
                return join(self.value(one) for one in node.values)
            case ast.List() | ast.Tuple() | ast.Set():
                return join(self.value(one) for one in node.elts)
            case ast.Dict():
                return join(self.value(one) for one in node.values)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                self._generators(node.generators)
                return self.value(node.elt)
            case ast.DictComp():
                self._generators(node.generators)
                return self.value(node.key) | self.value(node.value)
            case ast.NamedExpr():
                self._assign(node.target, node.value)
                return self.value(node.target)
            case ast.Lambda():
                return self.value(node.body)
            case ast.Call():
                return self._call(node)
            case _:
                return NOTHING

    def _generators(self, generators: Sequence[ast.comprehension]) -> None:
        for one in generators:
            self._bind(one.target, self.value(one.iter))

    def _constant(self, value: object) -> Flow:
        if isinstance(value, bool):
            return NOTHING
        if isinstance(value, int | float):
            return self._typed(canonical(f"{Decimal(repr(value)):f}" if math.isfinite(value) else "0"))
        if isinstance(value, bytes):
            value = value[:20_000].decode("latin-1")
        if isinstance(value, str):
            return Flow(texts=frozenset(numbers_in(value[:20_000])))
        return NOTHING

    def _typed(self, number: str) -> Flow:
        if is_constant(number):
            return NOTHING
        source = self.known(number)
        return Flow(inputs=frozenset({source})) if source else Flow(numbers=frozenset({number}))

    def _parsed(self, texts: Iterable[str]) -> frozenset[str]:
        return join(self._typed(one) for one in texts).numbers

    def _call(self, node: ast.Call) -> Flow:
        name = self._name(node.func)
        last = name.rsplit(".", 1)[-1]
        given = [self.value(one) for one in node.args]
        named = {one.arg or "**": self.value(one.value) for one in node.keywords}
        every = join([*given, *named.values()])
        if name.startswith(f"{HELPER}."):
            return self._helper(node, last, given, named)
        if name == "print":
            return self._print(node, join(given))
        if last in PRINTERS or name.startswith("sys.stdout"):
            self._shown(every)
            return NOTHING
        if last in ("exec", "compile"):  # code that is made while it runs cannot be read here
            self.all_untraced = True
            return NOTHING
        if isinstance(node.func, ast.Name) and node.func.id in self.session.functions:
            return self._call_own(node.func.id, list(zip(node.args, given, strict=True)), named)
        if self._is_module(node.func):
            called_on = NOTHING
        else:
            called_on = self.value(node.func.value) if isinstance(node.func, ast.Attribute) else self.value(node.func)
        if last in TO_TEXT and not node.args and not NAMED & set(named):
            return called_on
        if last in WRITERS:
            self._write(node, last, called_on, every)
            return NOTHING
        if last in READERS:
            typed = Flow(self._parsed(every.texts)) if last != "open" else NOTHING
            return called_on | self._read(node, last) | typed | Flow(every.numbers, inputs=every.inputs)
        if last in PARSERS:
            flow = called_on | every
            return Flow(flow.numbers | self._parsed(flow.texts), flow.texts, flow.inputs)
        if last in SETTINGS:
            is_function = self._is_module(node.func) or isinstance(node.func, ast.Name)
            return given[0] if last in OF_DATA and is_function and given else called_on
        return self._call_other(node, name, called_on, given, named)

    def _call_other(
        self, node: ast.Call, name: str, called_on: Flow, given: Sequence[Flow], named: dict[str, Flow]
    ) -> Flow:
        """A function of a library, of Python, or a method."""
        if self._is_module(node.func):
            if _MADE_UP in name.split("."):
                return Flow(frozenset({_MADE_UP}))
            if name.split(".", 1)[0] not in COMPUTING:
                return Flow(inputs=frozenset({name}))
        if isinstance(node.func, ast.Name):
            return called_on | join([*given, *named.values()])
        literal = {one.arg for one in node.keywords if isinstance(one.value, ast.Constant | ast.Tuple | ast.List)}
        rest = join([*given, *(flow for key, flow in named.items() if key not in literal)])
        return called_on | Flow(rest.numbers, inputs=rest.inputs)

    def _helper(self, node: ast.Call, last: str, given: Sequence[Flow], named: dict[str, Flow]) -> Flow:
        if last == "report":
            flow = given[1] if len(given) > 1 else named.get("value", NOTHING)
            flow = Flow(flow.numbers | self._parsed(flow.texts), flow.texts, flow.inputs)
            known = self.reports.get(id(node))
            self.reports[id(node)] = (node, flow | known[1] if known else flow)
            return flow
        literal = [one.value for one in node.args if isinstance(one, ast.Constant)]
        which = f"passage {literal[0]}" if literal and isinstance(literal[0], int) else EVIDENCE
        return Flow(inputs=frozenset({which}))

    def _print(self, node: ast.Call, flow: Flow) -> Flow:
        if flow.numbers:
            self.prints[id(node)] = node
        self.printed |= flow
        return NOTHING

    def _call_own(self, name: str, given: Sequence[tuple[ast.expr, Flow]], named: dict[str, Flow]) -> Flow:
        """A function of the code's own, read with what it is given."""
        function = self.session.functions[name]
        everything = join([*(flow for _, flow in given), *named.values()])
        if self._depth >= _DEEPEST:
            return everything
        parameters = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
        outer, returned = self.names, self._returned
        bound = dict(zip(parameters, (flow for _, flow in given), strict=False)) | named
        extra = join(flow for _, flow in given[len(parameters) :])
        rest = {one.arg: extra | everything for one in (function.args.vararg, function.args.kwarg) if one}
        defaults = zip(parameters[::-1], function.args.defaults[::-1], strict=False)
        usual = {parameter: self.value(one) for parameter, one in defaults}
        self.names, self._returned = {**outer, **usual, **rest, **bound}, NOTHING
        self._depth += 1
        try:
            if isinstance(function, ast.Lambda):
                self._returned = self.value(function.body)
            else:
                self.block(function.body)
        finally:
            inner, found = self.names, self._returned
            self.names, self._returned = outer, returned
            self._depth -= 1
        shared = {one for node in ast.walk(function) if isinstance(node, ast.Global) for one in node.names}
        for parameter, (node, _) in zip(parameters, given, strict=False):  # a list that it appends to
            if isinstance(node, ast.Name) and node.id in outer:
                outer[node.id] |= inner.get(parameter, NOTHING)
        for one in shared:
            outer[one] = outer.get(one, NOTHING) | inner.get(one, NOTHING)
        return found

    # Files

    def _write(self, node: ast.Call, last: str, called_on: Flow, given: Flow) -> None:
        flow = Flow(called_on.numbers | given.numbers | self._parsed(called_on.texts), inputs=called_on.inputs)
        flow |= Flow(inputs=given.inputs)
        names = _paths(node)
        if last in ONTO_HANDLES or not names:
            names |= {one.removeprefix("file ") for one in flow.inputs if one.startswith("file ")}
            names |= {""} if _SOME_FILE in flow.inputs or last not in ONTO_HANDLES else set()
        for name in names or {""}:  # a name that is made by the code may be any
            self.session.files[name] = self.session.files.get(name, NOTHING) | flow

    def _read(self, node: ast.Call, last: str) -> Flow:
        flow = NOTHING
        for name in _paths(node):
            source = EVIDENCE if name == EVIDENCE else f"file {name}"
            made = self.session.files.get(name, NOTHING) | self.session.files.get("", NOTHING)
            flow |= made | Flow(inputs=frozenset({source}))
        if flow.inputs:
            return flow
        some = Flow(inputs=frozenset({_SOME_FILE})) if last == "open" else NOTHING
        return join(self.session.files.values()) | some

    # Names

    def _name(self, node: ast.expr) -> str:
        """The dotted name with its module: "pandas.read_csv"; of a method its own name behind a dot."""
        if isinstance(node, ast.Name):
            return node.id if node.id in self.session.functions else self.session.modules.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            return f"{self._name(node.value)}.{node.attr}"
        return ""

    def _is_module(self, node: ast.expr) -> bool:
        """Whether it is a function of a module, and not a method of a value."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self.session.modules

    def _count(self) -> None:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise TooMuch


def _is_count(node: ast.expr) -> bool:
    """An exponent: 2, or 1 / 5."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return _is_count(node.left) and _is_count(node.right)
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _paths(node: ast.Call) -> set[str]:
    """Names of files that stand in a call as a whole; of what the code puts together, the end behind a slash."""
    ends, parts = set(), set()
    for one in ast.walk(node):
        if isinstance(one, ast.JoinedStr):
            pieces = one.values
        elif isinstance(one, ast.BinOp) and isinstance(one.op, ast.Add):
            pieces = [one.left, one.right]
        else:
            continue
        parts |= {id(piece) for piece in pieces}
        ends |= {id(piece) for piece in pieces[-1:]}
    return {
        one.value.rsplit("/", 1)[-1]
        for one in ast.walk(node)
        if isinstance(one, ast.Constant)
        and isinstance(one.value, str)
        and _FILE.fullmatch(one.value[:300])
        and (id(one) not in parts or (id(one) in ends and "/" in one.value))
    }
