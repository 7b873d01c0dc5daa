"""Parameters of functions, read from source text; the source is never run."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from quelea_kit.errors import InvalidInput

from quelea_sandbox.registry.model import Parameter
from quelea_sandbox.registry.package import Package

_FILLERS = frozenset({"_", "-", ""})
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Signatures:
    """Signatures of a distribution's functions; each module is parsed once.

    Args:
        package: Whose.
    """

    def __init__(self, package: Package) -> None:
        self._package = package
        self._modules: dict[str, dict[str, _Function]] = {}

    def parameters(self, path: str, name: str) -> tuple[Parameter, ...]:
        """Of a function ("download") or method ("Ticker.history"), without self, cls, *args and **kwargs.

        Raises:
            InvalidInput: the file has no such function.
        """
        functions = self._functions(path)
        if name not in functions:
            raise InvalidInput(f"{self._package.distribution} {self._package.version}: {path} has no function {name}.")
        return _parameters(functions[name])

    def columns(self, path: str, name: str) -> tuple[str, ...]:
        """Columns of the table that a function returns, as far as its source says so in words.

        That is the last list of names that it selects (`df = df[["日期", "开盘"]]`) or gives (`df.columns = […]`).
        """
        found: tuple[str, ...] = ()
        for node in ast.walk(self._functions(path)[name]) if self.has(path, name) else ():
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                names = _selected_names(node.value) or _renamed_columns(node)
                found = tuple(one for one in names if one not in _FILLERS) or found
        return found if len(found) > 1 else ()

    def has(self, path: str, name: str) -> bool:
        """True when the file defines that function."""
        return name in self._functions(path)

    def _functions(self, path: str) -> dict[str, _Function]:
        if path not in self._modules:
            try:
                tree = ast.parse(self._package.read(path))
            except SyntaxError as error:
                raise InvalidInput(f"{path} of {self._package.distribution} is not Python that can be read.") from error
            found: dict[str, _Function] = {}
            _collect(tree.body, "", found)
            self._modules[path] = found
        return self._modules[path]


def _selected_names(value: ast.expr) -> list[str]:
    return _strings(value.slice) if isinstance(value, ast.Subscript) else []


def _renamed_columns(node: ast.Assign) -> list[str]:
    target = node.targets[0]
    return _strings(node.value) if isinstance(target, ast.Attribute) and target.attr == "columns" else []


def _strings(node: ast.expr) -> list[str]:
    if not isinstance(node, ast.List):
        return []
    texts = [item.value for item in node.elts if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    return texts if len(texts) == len(node.elts) else []


def _collect(body: Sequence[ast.stmt], prefix: str, found: dict[str, _Function]) -> None:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found[f"{prefix}{node.name}"] = node
        elif isinstance(node, ast.ClassDef):
            _collect(node.body, f"{prefix}{node.name}.", found)


def _parameters(function: _Function) -> tuple[Parameter, ...]:
    arguments = function.args
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
    pairs = [*zip(plain, defaults, strict=True), *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    return tuple(
        Parameter(
            name=argument.arg,
            type=ast.unparse(argument.annotation) if argument.annotation else "",
            required=default is None,
            default="" if default is None else ast.unparse(default),
        )
        for argument, default in pairs
        if argument.arg not in ("self", "cls")
    )
