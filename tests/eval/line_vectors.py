"""Whether the encoder chooses the line that answers better than the extractive reader's words do.

python tests/eval/line_vectors.py --data ../shared/data: questions of TAT-QA as `read_quotes.py` shows them, of docugami
as `set_passages.py` does. Every row and sentence of the evidence is ordered by the reader's score, by its cosine to the
question, and by both (the score plus a weight times the cosine, its spread over the question's lines made 1). Printed:
how often a line with the answer is first, and among the first three and eight.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from fit_quotes import tatqa
from quelea_embedder.adapters.openvino_encoder import OpenVinoEncoder
from quelea_embedder.core.model import Kind
from quelea_evaluation.judging.figures import holds_rounded
from quelea_generator.core.extractive.question import read_question
from quelea_generator.core.extractive.scoring import Candidate, score_candidates
from quelea_generator.core.model import Task
from read_quotes import pair
from set_passages import read_set

WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2, 2.0)
FIRST = (1, 3, 8)


def asked(data: Path, kept: Path, every: int) -> Iterator[tuple[str, Task, Callable[[Candidate], bool]]]:
    """A set's name, a question with its evidence, and whether a line has its answer."""
    contexts, questions = tatqa(data)
    for one in pair(contexts, questions[::every]):
        yield "TAT-QA", one.there, lambda line, one=one: line.evidence.header == one.key and one.says(line.text)
    for it in read_set("docugami", data, kept):
        question: Any = it.question
        if question.figures:
            yield (
                "docugami",
                it.there,
                lambda line, q=question: holds_rounded(line.text, q.figures, q.amounts),
            )


def main() -> None:
    """Print a line for each set and way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--kept", type=Path, default=Path(".quelea/passages"))
    parser.add_argument("--model", default=".cache/models/multilingual-e5-small")
    parser.add_argument("--every", type=int, default=12, help="Read every so many-th question of TAT-QA.")
    parser.add_argument("--most", type=int, default=100, help="Questions of a set at most.")
    options = parser.parse_args()
    encoder = OpenVinoEncoder(options.model, options.model, max_tokens=96)
    ranks: dict[str, dict[str, list[int]]] = {}
    lines = 0
    for name, task, holds in asked(options.data, options.kept, options.every):
        ways = ranks.setdefault(name, {})
        if len(ways.get("0.0", ())) >= options.most:
            continue
        found = score_candidates(read_question(task), task.evidence)
        right = np.array([holds(one) for one in found])
        if not right.any():
            continue
        lines += len(found)
        query = encoder.encode([task.question], Kind.QUERY)[0]
        texts = [f"{one.evidence.header} {one.span.above}\n{one.text}" for one in found]
        near = np.concatenate([encoder.encode(texts[at : at + 32], Kind.PASSAGE) for at in range(0, len(texts), 32)])
        cosines = near @ query
        spread = (cosines - cosines.mean()) / (cosines.std() + 1e-6)
        scores = np.array([one.score for one in found])
        for way, values in {"cosine": spread, **{str(w): scores + w * spread for w in WEIGHTS}}.items():
            order = np.argsort(-values, kind="stable")
            ways.setdefault(way, []).append(int(np.argmax(right[order])) + 1)
    print(f"{lines} lines")
    for name, ways in ranks.items():
        for way, found_at in ways.items():
            shares = "  ".join(f"{np.mean([rank <= most for rank in found_at]):.3f}" for most in FIRST)
            print(f"{name:10} {len(found_at):4}  {way:8}  {shares}", flush=True)


if __name__ == "__main__":
    main()
