"""Every regular expression of the product, and the texts that make a bad one slow.

A pattern is worse than linear where a repeat can take the same text in several ways, or where the search begins again
at every character and reads on each time. Both show on long repeats of what the pattern itself is made of.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]  # the parse tree has no public module
from re import _parser  # type: ignore[attr-defined]
from types import FunctionType, ModuleType
from typing import Any

PACKAGES = tuple(
    f"quelea_{name}"
    for name in "kit fintext checker generator gateway retriever search embedder sandbox cli evaluation".split()
)
_ANCHORED = frozenset({"match", "fullmatch"})
_METHODS = frozenset({"search", "sub", "subn", "split", "findall", "finditer", *_ANCHORED})
_IMPORTS_RE = re.compile(r"^import re$|^from quelea_fintext.languages import", re.MULTILINE)
_LONG = 32
"""A repeat that may take more than this is worth feeding."""
_MOST_TEXTS = 24
_COMMON = ("a", "1", " ", "\n", "(", "收", "Ab ", "1,", "1 ", "a\n", "and ")


@dataclass
class Found:
    """A pattern of the product.

    Attributes:
        anchored: It is only ever used at the start of a text (match, fullmatch).
    """

    pattern: re.Pattern[str]
    where: str
    anchored: bool = False
    methods: set[str] = field(default_factory=set)


def modules() -> list[ModuleType]:
    """Every module of the product that imports `re` or the languages, imported: no other can make a pattern."""
    found = []
    for name in PACKAGES:
        folder = Path(next(iter(importlib.import_module(name).__path__)))
        for path in sorted(folder.rglob("*.py")):
            if path.stem != "__main__" and _IMPORTS_RE.search(path.read_text("utf-8")):
                parts = path.relative_to(folder.parent).with_suffix("").parts
                found.append(importlib.import_module(".".join(part for part in parts if part != "__init__")))
    return found


def patterns_of(loaded: list[ModuleType]) -> dict[tuple[str, int], Found]:
    """(pattern, flags) -> where it is: in globals, attributes and closures, and in calls of `re` inside functions."""
    found: dict[tuple[str, int], Found] = {}
    names: dict[tuple[str, str], set[str]] = {}
    for module in loaded:
        tree = ast.parse(Path(inspect.getfile(module)).read_text("utf-8"))
        for name, method in _uses(tree):  # a name with an underscore is its module's own
            names.setdefault((module.__name__ if name.startswith("_") else "", name), set()).add(method)
        for pattern, line, method in _calls(tree, module):
            one = found.setdefault((pattern.pattern, pattern.flags), Found(pattern, f"{module.__name__}:{line}"))
            one.methods.add(method)
    for module in loaded:
        for name, value in vars(module).items():
            for pattern in _inside(value, module.__name__, set()):
                one = found.setdefault((pattern.pattern, pattern.flags), Found(pattern, f"{module.__name__}.{name}"))
                own = module.__name__ if name.startswith("_") else ""
                one.methods |= names.get((own, name), set()) or {"search"}
    for one in found.values():
        one.anchored = one.methods <= _ANCHORED
    return found


def _inside(value: Any, module: str, seen: set[int]) -> Iterator[re.Pattern[str]]:
    """The patterns that a global holds: itself, in containers, attributes, classes, closures and defaults."""
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
        return
    if id(value) in seen or isinstance(value, (str, bytes, int, float, ModuleType)) or len(seen) > 20_000:
        return
    seen.add(id(value))
    parts: list[Any] = []
    if isinstance(value, dict):
        parts = [*value, *value.values()]
    elif isinstance(value, (list, tuple, set, frozenset)):
        parts = list(value)
    elif isinstance(value, FunctionType):
        cells = value.__closure__ or ()
        parts = [*(cell.cell_contents for cell in cells), *(value.__defaults__ or ())]
    elif getattr(type(value), "__module__", "").startswith("quelea_") or getattr(value, "__module__", None) == module:
        slots = getattr(type(value), "__slots__", ())
        parts = [*getattr(value, "__dict__", {}).values(), *(getattr(value, slot, None) for slot in slots)]
    for part in parts:
        yield from _inside(part, module, seen)


def _uses(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """(NAME, method) of every NAME.method(…) and of NAME handed on, whose use is not known: "search"."""
    called = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in _METHODS and isinstance(node.value, ast.Name):
            called.add(id(node.value))
            yield node.value.id, node.attr
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in called:
            yield node.id, "search"


def _calls(tree: ast.AST, module: ModuleType) -> Iterator[tuple[re.Pattern[str], int, str]]:
    """Calls of re.something inside functions, with a pattern that is made of constants and globals."""
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    for node in {id(node): node for function in functions for node in ast.walk(function)}.values():
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if not (isinstance(node.func.value, ast.Name) and node.func.value.id == "re" and node.args):
            continue
        method = node.func.attr
        if method not in _METHODS | {"compile"}:
            continue
        try:
            source = eval(compile(ast.Expression(node.args[0]), "", "eval"), dict(vars(module)))  # noqa: S307  # our own
        except NameError:
            continue  # made of a function's own names
        if isinstance(source, re.Pattern):
            continue
        flags = next((word.value for word in node.keywords if word.arg == "flags"), None)
        at = {"compile": 1, "match": 2, "search": 2, "fullmatch": 2, "findall": 2, "finditer": 2}.get(method)
        if flags is None and at is not None and len(node.args) > at:
            flags = node.args[at]
        value = eval(compile(ast.Expression(flags), "", "eval"), dict(vars(module))) if flags else 0  # noqa: S307
        if isinstance(source, str):
            yield re.compile(source, value), node.lineno, "search" if method == "compile" else method


def repeats(pattern: re.Pattern[str]) -> Iterator[tuple[str, str, str]]:
    """(before, repeated, after) of texts that are long repeats of what the pattern is made of."""
    tree = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    found: dict[tuple[str, str, str], None] = {}
    pieces = _Pieces()
    pieces.walk(list(tree), "")
    for before, body in pieces.repeats:
        for after in ("", "\0"):
            found[before, body, after] = None
    for prefix in pieces.prefixes:
        found["", prefix, ""] = None
        found["", prefix + " ", ""] = None
    for word in pieces.words:
        found["", word, ""] = None
        found["", word + " ", ""] = None
    whole = list(found)
    if len(whole) > _MOST_TEXTS:  # spread over the pattern
        whole = whole[:: len(whole) // _MOST_TEXTS + 1]
    bodies = list(dict.fromkeys(body for _, body, _ in whole))
    yield from whole
    for common in _COMMON:
        yield "", common, ""
    for one, other in [*pairwise(bodies)][:6]:
        yield one + " ", f"{other} ", ""


class _Pieces:
    """What a parse tree is made of."""

    def __init__(self) -> None:
        self.words: dict[str, None] = {}
        self.prefixes: dict[str, None] = {}
        self.repeats: dict[tuple[str, str], None] = {}

    def walk(self, sequence: list[Any], before: str) -> None:
        """Note the words of a sequence, what its long repeats repeat, and how it begins."""
        run, so_far = "", before
        for operation, argument in sequence:
            if operation is codes.LITERAL:
                run += chr(argument)
            elif run:
                self.words[run] = None
                run = ""
            for inner in _inner(operation, argument):
                self.walk(list(inner), so_far)
            if operation in (codes.MAX_REPEAT, codes.MIN_REPEAT) and argument[1] > _LONG:
                for body in dict.fromkeys(sample(list(argument[2]), which) for which in range(4)):
                    if body:
                        self.repeats[so_far, body] = None
            so_far += sample([(operation, argument)], 0)
            if so_far:
                self.prefixes[so_far] = None
        if run:
            self.words[run] = None


def _inner(operation: Any, argument: Any) -> list[Any]:
    if operation is codes.SUBPATTERN:
        return [argument[-1]]
    if operation is codes.BRANCH:
        return list(argument[1])
    if operation in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        return [argument[2]]
    if operation in (codes.ASSERT, codes.ASSERT_NOT):
        return [argument[1]]
    return [argument] if operation is codes.ATOMIC_GROUP else []


def sample(sequence: list[Any], which: int) -> str:
    """A short text that the sequence takes; of several the which-th, where there are so many."""
    return "".join(_sample(operation, argument, which) for operation, argument in sequence)


def _sample(operation: Any, argument: Any, which: int) -> str:
    if operation is codes.LITERAL:
        return chr(argument)
    if operation is codes.NOT_LITERAL:
        return "b" if argument == ord("a") else "a"
    if operation is codes.ANY:
        return "a"
    if operation is codes.IN:
        letters = _letters(argument)
        return letters[which % len(letters)]
    if operation is codes.BRANCH:
        return sample(list(argument[1][which % len(argument[1])]), which)
    if operation in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        return sample(list(argument[2]), which) * max(1, min(argument[0], 8))
    if operation in (codes.SUBPATTERN, codes.ATOMIC_GROUP):
        return "".join(sample(list(inner), which) for inner in _inner(operation, argument))
    return ""


_CLASS = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w", "NOT_DIGIT": r"\D", "NOT_SPACE": r"\S", "NOT_WORD": r"\W"}
_CATEGORY = {"DIGIT": "1", "SPACE": " ", "WORD": "a", "NOT_DIGIT": "a", "NOT_SPACE": "a", "NOT_WORD": " "}


def _letters(items: list[Any]) -> list[str]:
    """Some characters of a class."""
    if items[0][0] is codes.NEGATE:
        return [one for one in (" ", "a", "1", ".", "收", "\n", "(", "\t") if not _holds(items[1:], one)] or ["\x01"]
    found = []
    for operation, argument in items:
        if operation is codes.LITERAL:
            found.append(chr(argument))
        elif operation is codes.RANGE:
            found.append(chr(argument[1]))
        elif operation is codes.CATEGORY:
            found.append(_CATEGORY[str(argument).removeprefix("CATEGORY_")])
    return found or ["a"]


def _holds(items: list[Any], letter: str) -> bool:
    """Whether a class has a letter."""
    for operation, argument in items:
        if operation is codes.LITERAL and argument == ord(letter):
            return True
        if operation is codes.RANGE and argument[0] <= ord(letter) <= argument[1]:
            return True
        if operation is codes.CATEGORY and re.match(_CLASS[str(argument).removeprefix("CATEGORY_")], letter):
            return True
    return False
