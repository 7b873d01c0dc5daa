"""What a small model says to questions of other authors: the data that core/joint_answer.py's bounds are chosen on.

python tests/eval/ask_joint.py ENGINE --data ../shared/data --to answers.jsonl: questions of TAT-QA dev whose answer is
one short span with a digit, in an order drawn by seed. The evidence is the table and paragraphs of the question's
context and of the nearest other one, nine at most by TF-IDF. ENGINE (http://127.0.0.1:8000/v1) is asked with the
settings, prompts and excerpts of `quelea up --reader llama`. Its first sentence is stored in pieces, with how sure it
was of each, so that `fit_joint.py` can choose bounds without asking. A question that is stored is not asked again.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from quelea_cli.stack.engine import generator_settings
from quelea_generator.__main__ import model_reader, pool
from quelea_generator.adapters.reading_pool import ReadingPool
from quelea_generator.core.chat.reader import ModelReader
from quelea_generator.core.joint_answer import Preparation, first_sentence, prepare
from quelea_generator.core.model import Delta, Evidence, Task
from quelea_generator.settings import GeneratorSettings
from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]  # no stubs are published

SHOWN, SEED, SHORT = 9, 3, 30
_START_SECONDS, _PATIENCE = 300.0, 3600.0
"""A machine that does other work may be slow, and nobody waits for this."""
MODEL = Path("qwen2.5-coder-1.5b-instruct-q4_k_m.gguf")


@dataclass(frozen=True)
class Asked:
    """A question with its evidence; `key` is its answer as the set prints it, `name` the set's own."""

    name: str
    task: Task
    key: str


def questions(data: Path, seed: int = SEED) -> list[Asked]:
    """Those whose answer stands in the evidence that is shown, in an order drawn by the seed."""
    contexts = json.loads((data / "tatqa" / "tatqa_dataset_dev.json").read_text("utf-8"))
    passages = [(at, text, rows) for at, one in enumerate(contexts) for text, rows in _passages(one)]
    reader = TfidfVectorizer(sublinear_tf=True, token_pattern=r"[A-Za-z0-9]+")
    vectors = reader.fit_transform([text for _, text, _ in passages])
    owners = np.array([at for at, _, _ in passages])
    found = []
    for at, name, question, key in _short_spans(contexts):
        near = (vectors @ reader.transform([question]).T).toarray().ravel()
        other = owners[int(np.argmax(np.where(owners == at, -1.0, near)))]
        ranked = [i for i in np.argsort(-near, kind="stable") if owners[i] in (at, other)][:SHOWN]
        if any(owners[i] == at and key.lower() in passages[i][1].lower() for i in ranked):
            evidence = tuple(Evidence(n, passages[i][1], is_table=passages[i][2]) for n, i in enumerate(ranked, 1))
            found.append(Asked(name, Task(question, evidence, date(2020, 1, 1)), key))
    random.Random(seed).shuffle(found)
    return found


def _passages(context: Any) -> Iterator[tuple[str, bool]]:
    yield "\n".join("\t".join(cell.strip() for cell in row).rstrip() for row in context["table"]["table"]), True
    yield from ((part["text"], False) for part in context["paragraphs"])


def _short_spans(contexts: Sequence[Any]) -> Iterator[tuple[int, str, str, str]]:
    for at, one in enumerate(contexts):
        for asked in one["questions"]:
            key = asked["answer"][0] if asked["answer_type"] == "span" and len(asked["answer"]) == 1 else ""
            if len(key) <= SHORT and re.search(r"\d", key):
                yield at, asked["uid"], asked["question"], key


def prompt_of(prepared: Preparation) -> str:
    """What tells one excerpt from another, so that answers to a former one are not taken for those to this one."""
    shown = [prepared.task.question, *(f"{one.number} {one.header} {one.text}" for one in prepared.task.evidence)]
    return hashlib.sha256("\n".join(shown).encode()).hexdigest()[:16]


async def _ask(model: ModelReader, one: Asked, prepared: Preparation) -> dict[str, Any]:
    """The pieces up to the end of the first sentence: by that the product decides."""
    pieces: list[tuple[str, float | None]] = []
    async with contextlib.aclosing(model.read(one.task, prepared.task)) as events:
        async for event in events:
            if isinstance(event, Delta):
                pieces.append((event.text, event.sureness))
                if len(first_sentence(pieces)[0].strip()) < len("".join(text for text, _ in pieces).strip()):
                    break
    return {"name": one.name, "excerpt": prompt_of(prepared), "pieces": pieces}


async def _run(options: argparse.Namespace) -> None:
    usual = generator_settings(MODEL, 0, "", {})
    settings = GeneratorSettings(
        **{name.removeprefix("QUELEA_GENERATOR_").lower(): value for name, value in usual.items()}
        | {"endpoint": options.engine, "first_stall_seconds": _PATIENCE, "stall_seconds": _PATIENCE}
    )
    engines = pool(settings)
    await engines.wait_until_all_up(_START_SECONDS)
    model = model_reader(settings, engines, ReadingPool(processes=1, seconds=settings.read_seconds))
    there = {json.loads(line)["name"] for line in options.to.open(encoding="utf-8")} if options.to.exists() else set()
    asked = 0
    with options.to.open("a", encoding="utf-8") as file:
        for one in questions(options.data):
            if one.name in there:
                asked += 1
            elif asked < options.most and (prepared := prepare(one.task, settings.excerpt_tokens)).lines:
                asked += 1
                file.write(json.dumps(await _ask(model, one, prepared), ensure_ascii=False) + "\n")
                file.flush()
    await model.close()


def main() -> None:
    """Ask, and append what was said."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", help="Base URL of the endpoint.")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--to", type=Path, required=True, help="File that the answers are appended to.")
    parser.add_argument("--most", type=int, default=200, help="Questions at most.")
    asyncio.run(_run(parser.parse_args()))


if __name__ == "__main__":
    main()
