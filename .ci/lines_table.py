"""Prints what the product's Python is made of, a row a distribution, and the folders that hold more than 20 modules.

Product is what is installed or run from a distribution: no tests, no samples, no code that is generated. Each line is
counted once: *docstrings* are modules', classes', functions' and those below a field; *imports* are import statements;
*brackets* are lines that only open or close some, which the formatter makes; *code* is what remains.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tokenize
from collections import Counter
from pathlib import Path

KINDS = ("code", "imports", "brackets", "docstrings", "comments", "blank")
NOT_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
OUTSIDE = ("tests", "samples", ".ci", "docs")
MEASURING = ("evaluation", "requirements")
"""Distributions that no user's answer passes through."""
FULL_FOLDER = 20


def count_lines(text: str) -> Counter[str]:
    """How many lines of each of `KINDS` the text of a module has; they sum up to its lines."""
    kind_of: dict[int, str] = {}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            kind_of.setdefault(token.start[0], "comments")
        elif token.type == tokenize.OP and token.string in "()[]{},:":
            if kind_of.get(token.start[0]) != "code":
                kind_of[token.start[0]] = "brackets"
        elif token.type not in NOT_CODE:
            kind_of.update(dict.fromkeys(range(token.start[0], token.end[0] + 1), "code"))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            kind_of.update(dict.fromkeys(range(node.lineno, (node.end_lineno or node.lineno) + 1), "imports"))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            kind_of.update(dict.fromkeys(range(node.lineno, (node.end_lineno or node.lineno) + 1), "docstrings"))
    found = Counter(kind_of.values())
    return found + Counter(blank=len(text.splitlines()) - found.total())


def distribution(path: Path) -> str:
    """The distribution that a module belongs to: `libs/kit`, `services/gateway`, `client`."""
    return "/".join(path.parts[: 2 if path.parts[0] in ("libs", "services", "deploy") else 1])


def main() -> int:
    """Print both tables of the checkout this file lies in."""
    root = Path(__file__).parent.parent
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=root, capture_output=True, text=True, check=True).stdout  # noqa: S607 - git of the machine
    modules = [Path(line) for line in listed.splitlines() if line.split("/")[0] not in OUTSIDE]
    counts: dict[str, Counter[str]] = {}
    folders: Counter[Path] = Counter()
    for module in modules:
        found = count_lines((root / module).read_text(encoding="utf-8"))
        own = distribution(module)
        for name in (own, "all") if own in MEASURING else (own, "all", "all that serves"):
            counts.setdefault(name, Counter()).update(found, modules=1)
        folders[module.parent] += module.name != "__init__.py"

    out = io.StringIO()
    out.write(f"{'':22}{'modules':>8}{'lines':>9}" + "".join(f"{kind:>12}" for kind in KINDS) + "\n")
    for name in sorted(counts, key=lambda name: (name.startswith("all"), name)):
        row = counts[name]
        lines = sum(row[kind] for kind in KINDS)
        out.write(f"{name:22}{row['modules']:8,}{lines:9,}" + "".join(f"{row[kind]:12,}" for kind in KINDS) + "\n")
    out.write(f"\nFolders of more than {FULL_FOLDER} modules:\n")
    for folder, number in folders.most_common():
        if number > FULL_FOLDER:
            out.write(f"{number:4} {folder}\n")
    sys.stdout.write(out.getvalue())
    return 0


if __name__ == "__main__":
    sys.exit(main())
