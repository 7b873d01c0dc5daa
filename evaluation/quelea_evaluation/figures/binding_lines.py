"""What weights.json is fitted on: passages a line in, their features a line out, for `quelea eval binding`.

`python -m quelea_evaluation.figures.binding_lines`. A line is {"name", "passages": as POST /v1/check takes them,
"answers": [[answer, question]]}; these are true, and sentences are made of the passages besides. Nothing is sent
anywhere.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from random import Random
from unittest.mock import patch

import quelea_checker
from quelea_checker import CheckPassage
from quelea_checker.binding import scorer
from quelea_checker.binding.scorer import Binder
from quelea_checker.matching.profiles import Profile, Translations
from quelea_checker.reading.evidence import Evidence
from quelea_checker.reading.facts import Fact

from quelea_evaluation.figures.binding_sentences import make_sentences

_MOST = 24
"""Sentences of one set of passages."""
Row = dict[str, object]


def observe(lines: Iterable[str]) -> Iterator[str]:
    """For each line a list of {"kind", "rival": whether the rival is right, "features"}, as JSON."""
    for line in lines:
        body = json.loads(line)
        passages = [CheckPassage(**passage) for passage in body["passages"]]
        rows: list[Row] = []
        for sentence in make_sentences(Evidence(passages), Random(body["name"]))[:_MOST]:  # noqa: S311  # no secret
            rows += _features(sentence.text, passages, "", sentence.kind, sentence.wrong)
        for answer, question in body.get("answers", ()):
            rows += _features(answer, passages, question, "natural", "")
        yield json.dumps(rows)


def _features(answer: str, passages: list[CheckPassage], question: str, kind: str, wrong: str) -> list[Row]:
    """Of each figure of the answer that a rival was found for; of a false sentence only of the figure that is false."""
    seen: list[Row] = []
    features = scorer.rival_features

    def keep(
        binder: Binder, said: Profile, beside: str, own: Fact, rival: Fact, digits: int, ways: Translations | None
    ) -> list[float]:
        values = features(binder, said, beside, own, rival, digits, ways)
        if kind != "prose-value" or own.figure.text.strip() == wrong:
            seen.append({"kind": kind, "rival": bool(wrong), "features": values})
        return values

    with patch.object(scorer, "rival_features", keep), patch.object(scorer, "is_rival", lambda _: False):
        quelea_checker.check_answer(answer, passages, question=question)
    return seen


if __name__ == "__main__":
    for found in observe(sys.stdin):
        print(found, flush=True)  # noqa: T201  # its answer
