"""The training itself: sentence-transformers' trainer, with the objectives of the recipe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from sentence_transformers.sentence_transformer.losses import (
    CachedMultipleNegativesRankingLoss,
    MultipleNegativesRankingLoss,
)
from sentence_transformers.sentence_transformer.training_args import BatchSamplers

from quelea_training import long_runs
from quelea_training.encoder.examples import Kind
from quelea_training.encoder.measures import K, Vectors, unit
from quelea_training.encoder.objective import AnchoredLoss, WeaverBirdLoss
from quelea_training.encoder.recipe import Recipe
from quelea_training.encoder.towers import Towers
from quelea_training.long_runs import Budget, Look, PacedTrainer, Trained, usual_arguments

LOOK = f"MAP@{K}"
"""The development measure, the mean over sources."""


def train(
    towers: Towers,
    columns: Mapping[str, list[str]],
    recipe: Recipe,
    budget: Budget,
    out: Path,
    *,
    look: Callable[[], float] | None,
    say: Callable[[str], None],
    anchors: Mapping[Kind, list[str]] | None = None,
) -> Trained:
    """Train, from the last whole checkpoint of `out` where there is one; the best weights are loaded at the end.

    Args:
        towers: What is trained.
        columns: `examples.rows`.
        recipe: How.
        budget: How long.
        out: Folder of checkpoints and logs.
        look: The measure of the development split, higher is better; None: there is none, and the last weights count.
        say: Takes lines about the work.
        anchors: `examples.anchors`, as many as there are rows; the towers still have the weights of the base.

    Raises:
        OutOfMemory: A step does not fit.
    """
    loss = _loss(towers, recipe)
    given: dict[str, list[Any]] = dict(columns)
    if anchors:
        kept = np.stack([_vectors(towers, texts, kind) for kind, texts in anchors.items()])
        loss = AnchoredLoss(loss, towers.trained, torch.from_numpy(kept).to(towers.trained.device), recipe.anchor)
        given |= {f"anchor_{kind}": texts for kind, texts in anchors.items()}
        given["label"] = list(range(len(columns["query"])))
    names = [name for name in given if name != "label"]
    arguments = SentenceTransformerTrainingArguments(
        **usual_arguments(recipe, out, towers.trained.device),
        batch_sampler=BatchSamplers.NO_DUPLICATES,
        prompts=towers.column_prompts(names),
        router_mapping=towers.routes(names),
    )
    memory = (
        f"out of memory in a step of {recipe.batch} queries with {len(names)} texts each: lower --batch "
        f"({recipe.batch}), set --chunk {max(recipe.batch // 4, 1)}, or lower --max-tokens ({recipe.max_tokens}); "
        "the same command goes on from the last checkpoint where only --chunk changed"
    )
    return long_runs.train(
        _Trainer,
        arguments,
        towers,
        recipe,
        budget,
        look=Look(LOOK, look) if look else None,
        say=say,
        memory=memory,
        model=towers.trained,
        train_dataset=Dataset.from_dict(given),
        loss=loss,
    )


def _vectors(towers: Towers, texts: Sequence[str], kind: Kind) -> Vectors:
    """Unit vectors; texts that are taken again and again are encoded once."""
    once = list(dict.fromkeys(texts))
    place = {text: at for at, text in enumerate(once)}
    vectors: Vectors = unit(towers.encode(once, kind))[[place[text] for text in texts]]
    return vectors


def _loss(towers: Towers, recipe: Recipe) -> torch.nn.Module:
    if recipe.objective == "weaverbird":
        return WeaverBirdLoss(towers.trained)
    if recipe.chunk:
        return CachedMultipleNegativesRankingLoss(towers.trained, scale=recipe.scale, mini_batch_size=recipe.chunk)
    return MultipleNegativesRankingLoss(towers.trained, scale=recipe.scale)


class _Trainer(PacedTrainer, SentenceTransformerTrainer):
    """Sentence-transformers' trainer, paced."""
