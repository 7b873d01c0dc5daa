"""Which patterns of the languages' data no question of another author has.

    python tests/eval/unasked_wording.py DATA [--list]

DATA is the folder of the data sets. Looked through are the files that read questions, each pattern by itself, in the
questions of its own language. A pattern that is never met is not wrong: it has shown no gain on these. Lists of words
in one string are left out.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from quelea_fintext.languages import LANGUAGES
from quelea_fintext.text import language_of

FILES = ("time", "periods", "questions", "dialogue", "asked")
FIELDS = frozenset({"question", "questions", "query", "input", "instruction"})


def texts_of(value: Any) -> Iterator[str]:
    """Texts under a field of `FIELDS`, however deep."""
    if isinstance(value, list):
        for one in value:
            yield from texts_of(one)
    elif isinstance(value, dict):
        for key, one in value.items():
            if key.lower() not in FIELDS:
                yield from texts_of(one)
            elif isinstance(one, str):
                yield one
            elif isinstance(one, list):
                yield from (text for text in one if isinstance(text, str))
                yield from texts_of(one)


def questions(data: Path) -> dict[str, list[str]]:
    """Each question once, by data set."""
    found: dict[str, list[str]] = {}
    for path in (
        "tatqa/tatqa_dataset_dev.json",
        "convfinqa/convfinqa_dev_pot.json",
        "fintextqa/regulation_qa_aligned.jsonl",
        "finglm/B-list-answer.jsonl",
        "disc_finllm/retriever_eval.json",
        "disc_finllm/computing_eval.json",
        "disc_finllm/consulting_part.json",
    ):
        text = (data / path).read_text(encoding="utf-8")
        lines = path.endswith(".jsonl") or text.lstrip().startswith("{")
        rows = [json.loads(line) for line in text.splitlines() if line.strip()] if lines else json.loads(text)
        found[path] = list(dict.fromkeys(texts_of(rows)))
    with (data / "docugami_sec10q/qna_data.csv").open(encoding="utf-8-sig", newline="") as file:
        found["docugami_sec10q/qna_data.csv"] = list(dict.fromkeys(row["Question"] for row in csv.DictReader(file)))
    return found


def patterns(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """(key, pattern) of every pattern below a value of the data."""
    if isinstance(value, str) and (value.count(" ") < 3 or re.search(r"[\\(\[|]", value)):
        yield path, value
    elif isinstance(value, list):
        for at, one in enumerate(value):
            yield from patterns(one["pattern"] if isinstance(one, dict) else one, f"{path}.{at}")
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from patterns(one, f"{path}.{key}")


def main() -> None:
    data, listed = Path(sys.argv[1]), "--list" in sys.argv
    asked = questions(data)
    print({name: len(some) for name, some in asked.items()})
    for code in LANGUAGES.codes:
        own = [text for some in asked.values() for text in some if language_of(text) == code]
        print(f"{code}: {len(own)} questions")
        for file in FILES:
            unmet, count = [], 0
            for top, value in (LANGUAGES.of(file).get(code) or {}).items():
                for key, written in patterns(value, f"{file}.{top}"):
                    plain = re.escape(written).replace(r"\{n\}", r"\S+") if file == "asked" else None
                    filled = plain or LANGUAGES._fill_beside(written, f"{file}.{top}", code)
                    pattern = re.compile(re.sub(r"\(\?P<\w+>", "(?:", filled), re.IGNORECASE)
                    count += 1
                    if not any(pattern.search(text) for text in own):
                        unmet.append(f"    {key}  {written[:90]}")
            print(f"  {file}: {len(unmet)} of {count} are in none")
            if listed:
                print("\n".join(unmet))


main()
