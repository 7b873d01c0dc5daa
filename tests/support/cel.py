"""CEL expressions evaluated by Google's own implementation, in a process of its own.

The extension is C++: whatever it does to its process, the tests' own goes on.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any


def evaluated(expressions: list[str], data: dict[str, Any]) -> list[bool]:
    """Which of the expressions are true of the variables in `data`; an expression that fails is not."""
    asked = json.dumps({"expressions": expressions, "data": data})
    done = subprocess.run(
        [sys.executable, __file__], input=asked, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return [bool(one) for one in json.loads(done.stdout)]


def main() -> None:
    """Expressions and variables as JSON on stdin, a list of truths on stdout."""
    from cel_expr_python import cel  # here: whoever imports this module must not load it

    asked = json.load(sys.stdin)
    environment = cel.NewEnv(variables=dict.fromkeys(asked["data"], cel.Type.DYN))
    values = [environment.compile(text).eval(data=asked["data"]).plain_value() for text in asked["expressions"]]
    json.dump([value is True for value in values], sys.stdout)


if __name__ == "__main__":
    main()
