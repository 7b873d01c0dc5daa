"""How often the extractive reader answers right, and declines, on questions of other authors.

python tests/eval/read_quotes.py --data ../shared/data: the questions of TAT-QA and the first one of each ConvFinQA
conversation, each with the eight passages of all contexts that TF-IDF finds (`fit_quotes.py` says how), and once more
with eight of the other contexts alone. Right: the first quote is of the own context and has the answer.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
from fit_quotes import NEARER, SHOWN, Says, convfinqa, tatqa
from quelea_generator.core.extractive.reader import answer
from quelea_generator.core.model import Evidence, Task
from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]  # no stubs are published

Contexts = dict[str, list[tuple[str, bool]]]


@dataclass(frozen=True)
class Asked:
    """A question with its own context among the passages, and without."""

    key: str
    question: str
    says: Says
    there: Task
    away: Task


def pair(contexts: Contexts, asked: Sequence[tuple[str, str, Says]]) -> Iterator[Asked]:
    """The tasks of those questions whose answer one of the passages shown holds."""
    passages = [(key, *passage) for key, own in contexts.items() for passage in own]
    reader = TfidfVectorizer(sublinear_tf=True, token_pattern=r"[A-Za-z0-9]+")
    vectors = reader.fit_transform([text for _, text, _ in passages])
    keys = np.array([key for key, _, _ in passages])
    for key, question, says in asked:
        near = (vectors @ reader.transform([question]).T).toarray().ravel()
        tasks = []
        for bonus in (NEARER, -10.0):
            shown = [passages[at] for at in np.argsort(-(near + bonus * (keys == key)))[:SHOWN]]
            evidence = tuple(Evidence(n, text, header=of, is_table=rows) for n, (of, text, rows) in enumerate(shown, 1))
            tasks.append(Task(question, evidence, date(2020, 1, 1)))
        if any(item.header == key and says(item.text) for item in tasks[0].evidence):
            yield Asked(key, question, says, *tasks)


def is_right(one: Asked) -> bool | None:
    """Whether the first quote has the answer; None where it declines."""
    found = answer(one.there)
    if found.decline:
        return None
    texts = [one.there.evidence[quote.number - 1] for quote in found.quotes[:1]]
    said = found.quotes[0].text if not found.by_construction else " ".join(quote.text for quote in found.quotes)
    return texts[0].header == one.key and one.says(said)


def main() -> None:
    """Print the counts of both sets, and with --list each question's outcome."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--every", type=int, default=3, help="Read every so many-th question of TAT-QA.")
    parser.add_argument("--list", action="store_true", help="Print each question's outcome.")
    options = parser.parse_args()
    contexts, asked = tatqa(options.data)
    sets = {"TAT-QA": (contexts, asked[:: options.every]), "ConvFinQA": convfinqa(options.data)}
    for name, (own, questions) in sets.items():
        outcomes = []
        for one in pair(own, questions):
            outcomes.append((is_right(one), answer(one.away).decline is not None))
            if options.list:
                print(*outcomes[-1], one.question, sep="\t")
        right, declined, away = (sum(of) for of in zip(*((r is True, r is None, a) for r, a in outcomes), strict=True))
        print(f"{name}, {len(outcomes)}: right {right}, declined {declined}; without the context declined {away}")


if __name__ == "__main__":
    main()
