"""The Python of a model's answer: taken out of its fences, freed of what only a notebook understands, made to parse."""

from __future__ import annotations

import ast
import re
import textwrap
from typing import Any

from quelea_gateway.core.agent.decision.parsing import FENCE, Misfit, clean, json_value, without_thinking

_MOST_CODE = 60_000
_PYTHON = ("", "python", "py", "python3", "ipython", "ipython3", "jupyter", "tool_code", "code")
_INSTALL = r"\s{0,40}+[!%]?\s{0,40}+(?:pip3?|conda|uv)\b.*"
_MAGIC = re.compile(rf"^(?:\s{{0,40}}+%{{1,2}}\w+.*|{_INSTALL})$")
_SHELL = re.compile(r"^\s{0,40}+!.*$|^\s{0,40}+%%(?:bash|sh|script|writefile)\b.*$", re.MULTILINE)
_FENCE_LINE = re.compile(r"(?:```|~~~)[^\n]{0,200}\n")
_END_FENCE = re.compile(r"\n[ \t]{0,40}+(?:```|~~~)")
_PROMPT = re.compile(r"^(?:>>>|\.\.\.) ?")
_WIDE = {"（": "(", "）": ")", "，": ",", "：": ":", "；": ";", "［": "[", "］": "]", "｛": "{", "｝": "}", "＝": "=",
         "“": '"', "”": '"', "‘": "'", "’": "'", "　": " ", "\u00a0": " ", "－": "-", "＋": "+", "＊": "*", "、": ",",
         "＞": ">", "＜": "<", "！": "!", "％": "%"}  # fmt: skip
_MOST_WIDE = 400
_IMPORTS = {
    "ak": "import akshare as ak",
    "akshare": "import akshare",
    "np": "import numpy as np",
    "pd": "import pandas as pd",
    "plt": "import matplotlib.pyplot as plt",
    "yf": "import yfinance as yf",
    "figure": "from quelea_results import figure",
    "passage": "from quelea_results import passage",
    "passages": "from quelea_results import passages",
    "report": "from quelea_results import report",
}


def code(text: str) -> str:
    """The code of an answer, complete and parsed. Raises Misfit with what is wrong, for the model."""
    text = without_thinking(clean(text)).strip()
    if not text:
        raise Misfit("The answer was empty. Answer with one block of Python code.")
    if not FENCE.search(text) or re.match(r"```json\b", text):
        wrapped = json_value(text) if text.startswith(("{", "`")) else None
        if isinstance(wrapped, dict) and isinstance(wrapped.get("code"), str):
            text = wrapped["code"]
    tried: SyntaxError | None = None
    candidates = _candidates(text)
    for found in candidates:
        if len(found) > _MOST_CODE:
            raise Misfit(f"The code has more than {_MOST_CODE:,} characters. Write less.")
        if _SHELL.search(found) and not all(re.fullmatch(_INSTALL, line) for line in _SHELL.findall(found)):
            raise Misfit("Lines with ! and cells like %%bash cannot be run here: there is no shell. Write Python only.")
        try:
            whole = _parse(found)
        except SyntaxError as error:
            tried = tried or error
            continue
        tree = ast.parse(whole)
        if not tree.body or (found is text and not _does_something(tree)):
            raise Misfit("There is no code in the answer. Answer with one ```python block.")
        return _with_imports(whole, tree)
    line = f" in line {tried.lineno}" if tried and tried.lineno else ""
    reason = tried.msg if tried else "it cannot be read"
    hint = " Python is 3.11: within an f-string use the other kind of quotes." if "f-string" in reason else ""
    raise Misfit(f"This is no Python{line}: {reason}.{hint} Answer with one ```python block of whole code.")


def _candidates(text: str) -> list[str]:
    """What may be the code, the likeliest first: the blocks together, the longest, the first fence to the last, all."""
    blocks = [(match[1].lower(), textwrap.dedent(match[2].strip("\r\n"))) for match in FENCE.finditer(text)]
    named = [body for kind, body in blocks if kind in _PYTHON and kind]
    bodies = named or [body for kind, body in blocks if kind in _PYTHON]
    if not bodies:
        return [text] if not blocks else [body for _, body in blocks] + [text]
    found = []
    if len(bodies) > 1 and not _is_revision(bodies):
        found.append("\n\n".join(bodies))
    found.append(max(bodies, key=len))
    if first := _FENCE_LINE.search(text):
        ends = [match.start() for match in _END_FENCE.finditer(text, first.end())]
        found += [textwrap.dedent(text[first.end() : end]) for end in ends[-1:]]
    return found


def _is_revision(bodies: list[str]) -> bool:
    """Whether later blocks are the same code once more, and not its continuation: they import the same again."""
    imports = [
        {line.strip() for line in body.splitlines() if re.match(r"\s*(?:import|from)\s", line)} for body in bodies
    ]
    return any(imports[0] & later for later in imports[1:])


def _parse(found: str) -> str:
    """Code that parses. Raises SyntaxError."""
    try:
        return _check(found)
    except SyntaxError as error:
        plain = _without_prompts(_without_magics(found))
        if plain != found:
            return _parse_wide(plain)
        if "invalid" in (error.msg or "") or "f-string" in (error.msg or "") or "unterminated" in (error.msg or ""):
            return _parse_wide(plain)
        raise


def _parse_wide(found: str) -> str:
    """Full-width punctuation is replaced where Python says that it cannot be; within texts it stays."""
    for _ in range(_MOST_WIDE):
        try:
            return _check(found)
        except SyntaxError as error:
            lines = found.split("\n")
            row, column = (error.lineno or 0) - 1, (error.offset or 0) - 1
            if not 0 <= row < len(lines):
                raise
            fixed = _narrow(lines[row], column)
            if fixed == lines[row]:
                fixed = _requote(lines[row])
            if fixed == lines[row]:
                raise
            lines[row] = fixed
            found = "\n".join(lines)
    raise SyntaxError("it has too many characters that Python does not know")


def _check(found: str) -> str:
    try:
        ast.parse(found)
    except (ValueError, RecursionError, MemoryError) as error:
        raise SyntaxError("it cannot be read") from error
    return found


def _narrow(line: str, column: int) -> str:
    if 0 <= column < len(line) and line[column] in _WIDE:
        return line[:column] + _WIDE[line[column]] + line[column + 1 :]
    return line


def _requote(line: str) -> str:
    """Quotes within an f-string's braces turned into the other kind, as Python before 3.12 wants it."""
    if 'f"' in line:
        return re.sub(r"\{[^{}]*\}", lambda match: match[0].replace('"', "'"), line)
    if "f'" in line:
        return re.sub(r"\{[^{}]*\}", lambda match: match[0].replace("'", '"'), line)
    return line


def _without_magics(found: str) -> str:
    return "\n".join(
        f"{line[: len(line) - len(line.lstrip())]}pass  # left out, nothing is installed here: {line.strip()}"
        if _MAGIC.match(line)
        else line
        for line in found.split("\n")
    )


def _without_prompts(found: str) -> str:
    """An interpreter's session without its prompts and outputs."""
    lines = found.split("\n")
    if not any(line.startswith(">>> ") for line in lines):
        return found
    return "\n".join(_PROMPT.sub("", line) for line in lines if _PROMPT.match(line))


def _does_something(tree: ast.Module) -> bool:
    """Whether it can be meant as code: prose that happens to parse has no call, no assignment and no import."""
    plain = all(isinstance(node, ast.Expr | ast.Pass) for node in tree.body)
    return not plain or any(isinstance(node, ast.Call) for node in ast.walk(tree))


def _with_imports(found: str, tree: ast.Module) -> str:
    """With the usual imports of names that are used as if they were there: code goes on from step to step."""
    used: set[str] = set()
    bound: set[str] = set()
    node: Any
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                return found
            bound |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
    missing = [line for name, line in _IMPORTS.items() if name in used - bound]
    return "\n".join([*missing, found])
