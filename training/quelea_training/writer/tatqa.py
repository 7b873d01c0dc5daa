"""TAT-QA's answers and derivations, for the pairs of `quelea train pairs --source tatqa`."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from quelea_evaluation.inputs import BadInput
from quelea_evaluation.sets import load_set

from quelea_training.writer.questions import Answered

NAME = "tatqa"


def answered(data: Path) -> dict[tuple[str, str], Answered]:
    """Every question of the set that has one answer, by (document, question).

    Raises:
        BadInput: The set is not below the folder.
    """
    file = data / "tatqa" / "tatqa_dataset_dev.json"
    try:
        contexts = json.loads(file.read_text(encoding="utf-8"))
        documents = load_set(NAME, data).documents
    except OSError as error:
        raise BadInput(f"{NAME}: cannot read {error.filename}: {error.strerror}; say where with --data") from error
    found = {}
    for document, context in zip(documents, contexts, strict=True):
        name = hashlib.sha256(document.data).hexdigest()[:32]
        for asked in context["questions"]:
            given = asked["answer"] if isinstance(asked["answer"], list) else [asked["answer"]]
            said = tuple(str(one) for one in given if str(one))
            computed = asked["answer_type"] == "arithmetic"
            if asked["answer_type"] == "count" or not said or (computed and not asked["derivation"]):
                continue
            found[name, asked["question"]] = Answered(
                question=asked["question"],
                document=name,
                answers=said,
                derivation=asked["derivation"] if computed else "",
                is_percent=asked["scale"] == "percent",
            )
    return found
