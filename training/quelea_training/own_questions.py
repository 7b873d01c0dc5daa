"""Questions of `quelea train pairs` about documents that a home has stored, as the evaluation asks them."""

from __future__ import annotations

from pathlib import Path

from quelea_cli.stack.home import Home
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.sets.model import EvaluationSet, Question

from quelea_training.pairs.model import SPLITS, Split, read_pairs

STORED = "stored"
"""The source of pairs from the documents of a home."""


def resting(stored: Path) -> Path:
    """The home, which must be there, its stack at rest: it is copied with all that it holds. Raises BadInput."""
    home = stored.expanduser().resolve()
    if not home.is_dir():
        raise BadInput(f"{home} is no home of a stack; name with --stored the one that the pairs were made from.")
    if Home(home).is_locked():
        raise BadInput(f"A stack runs in {home}: stop it with `quelea down --home {home}`, then ask again.")
    return home


def own_set(folder: Path, name: str, splits: tuple[Split, ...] = SPLITS) -> EvaluationSet:
    """The pairs of a folder as a set without documents: the home called `name` has them.

    A passage is right by its document and page; documents are named by their ids.

    Raises:
        BadInput: the folder has no pairs, or none about stored documents.
    """
    found = read_pairs(folder)
    questions = tuple(
        Question(
            id=pair.id,
            text=pair.query,
            kind=pair.kind,
            documents=frozenset({pair.document}),
            page=found.passages[pair.passage].page,
        )
        for pair in found.pairs
        if pair.source == STORED and pair.split in splits
    )
    if not questions:
        raise BadInput(
            f"{folder} has no pairs about stored documents; make some with `quelea train pairs {folder}` from a home."
        )
    return EvaluationSet(name, (), questions)
