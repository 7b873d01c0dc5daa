"""How much a small model must read: whether the answer is in the excerpt that it is shown, by the excerpt's size.

python tests/eval/excerpt_sizes.py --data ../shared/data [--engine http://127.0.0.1:8000]: the questions of
`ask_joint.py`. With the engine (llama.cpp's server), tokens are its own count, else estimates.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path

import httpx2 as httpx
from ask_joint import questions
from quelea_fintext.text import estimate_tokens
from quelea_generator.core.chat.excerpts import cut_evidence
from quelea_generator.core.chat.prompt import context_line
from quelea_generator.core.extractive.question import read_question
from quelea_generator.core.extractive.reader import answer

SIZES = (120, 160, 200, 240, 300, 360, 450, 600)


def main() -> None:
    """Print the share with the answer, and the tokens, of each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--engine", help="Base URL of llama.cpp's server, which counts.")
    parser.add_argument("--most", type=int, default=100, help="Questions at most.")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="Tokens of the excerpts, as estimated.")
    options = parser.parse_args()
    shown: dict[int, list[bool]] = {size: [] for size in options.sizes}
    tokens: dict[int, list[int]] = {size: [] for size in options.sizes}
    quoted = []
    for one in questions(options.data)[: options.most]:
        found = answer(one.task)
        if found.decline or found.by_construction:
            continue
        query = read_question(one.task)
        quoted.append(any(one.key.lower() in quote.text.lower() for quote in found.quotes))
        for size in options.sizes:
            cut, _ = cut_evidence(one.task, query, size, found.quotes)
            text = "\n".join(context_line(item, item.text) for item in cut.evidence)
            shown[size].append(one.key.lower() in text.lower())
            tokens[size].append(count(text, options.engine))
    print(f"{len(quoted)} questions; the answer is in the quotes of {sum(quoted)}")
    for size in options.sizes:
        middle, most = statistics.median(tokens[size]), max(tokens[size])
        print(f"  excerpt of {size}: in {sum(shown[size])}; tokens, median {middle:.0f}, most {most}")


def count(text: str, engine: str | None) -> int:
    """Tokens as the engine reads them; estimated without one."""
    if not engine:
        return estimate_tokens(text)
    reply = httpx.post(f"{engine}/tokenize", json={"content": text}, timeout=300.0)
    reply.raise_for_status()
    return len(reply.json()["tokens"])


if __name__ == "__main__":
    main()
