"""The cross-encoder that is trained, and its training: sentence-transformers' trainer with the cross-entropy."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from datasets import Dataset
from quelea_evaluation.inputs import BadInput
from sentence_transformers.cross_encoder import CrossEncoder, CrossEncoderTrainer, CrossEncoderTrainingArguments
from sentence_transformers.cross_encoder.losses import CrossEntropyLoss
from transformers import AutoModelForSequenceClassification, AutoTokenizer
from transformers.utils import logging as transformers_logging

from quelea_training import long_runs
from quelea_training.checkpoints import MovingWeights
from quelea_training.long_runs import Budget, Look, PacedTrainer, Trained, usual_arguments
from quelea_training.remembering import Remembering, remember
from quelea_training.verifier.examples import Example
from quelea_training.verifier.recipe import LABELS, Recipe, Scores

# Of loading weights: a second, and the lines about the work are ours; that a head is new is known.
transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # it has no annotations
transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]

LOOK = "balanced accuracy"
"""The development measure: the mean over labels of the share that is labelled rightly, 0 to 1."""
_LONGEST = 512
_BATCH = 32


class VerifierModel(MovingWeights):
    """An encoder with a new head for three labels, made ready for a recipe.

    Args:
        base: Folder of the encoder, as transformers reads it.
        start: Folder to lay the model with its new head into, from which it is loaded.
        recipe: How it is trained.
        device: cpu, cuda, …; empty chooses.

    Raises:
        BadInput: The folder holds no encoder, or one without layers that can be chosen.
    """

    def __init__(self, base: Path, start: Path, recipe: Recipe, device: str = "") -> None:
        torch.manual_seed(recipe.seed)  # of the head's first weights
        labels = dict(enumerate(LABELS))
        try:
            tokenizer: Any = AutoTokenizer.from_pretrained(base, local_files_only=True)
            headed: Any = AutoModelForSequenceClassification.from_pretrained(
                base,
                local_files_only=True,
                dtype=torch.float32,
                num_labels=len(LABELS),
                id2label=labels,
                label2id={name: at for at, name in labels.items()},
            )
        except (OSError, ValueError) as error:
            raise BadInput(f"transformers cannot read {base}: {error}") from error
        longest = min(int(headed.config.max_position_embeddings), int(tokenizer.model_max_length), _LONGEST)
        tokenizer.model_max_length = longest
        shutil.rmtree(start, ignore_errors=True)
        headed.save_pretrained(start)
        tokenizer.save_pretrained(start)
        self.model: Any = CrossEncoder(str(start), device=device or None, local_files_only=True)
        shutil.rmtree(start)
        self._max_tokens = longest
        self._trained_tokens = min(recipe.max_tokens, longest)
        self.model.max_seq_length = longest
        _choose_weights(self.model.model, recipe.layers)
        super().__init__(self.model)
        self._layers = recipe.layers
        self._remembering: Remembering | None = None

    def remember(self, most: int, say: Callable[[str], None]) -> None:
        """Keep what the layers give that do not move, until `export`.

        Args:
            most: MiB of it, at most; 0: keep nothing.
            say: Is told where it cannot be done.
        """
        self._remembering = remember(self.model.model.base_model, self._layers, most, say)

    def score(self, pairs: Sequence[tuple[str, str]]) -> Scores:
        """Probabilities of the labels, read up to the model's own limit of tokens."""
        before, self.model.max_seq_length = self.model.max_seq_length, self._max_tokens
        was_training = self.model.training
        try:
            found = self.model.predict(list(pairs), batch_size=_BATCH, apply_softmax=True, show_progress_bar=False)
        finally:
            self.model.max_seq_length = before
            self.model.train(was_training)
        return np.asarray(found, dtype=np.float32)

    def export(self, folder: Path, card: str, licence: Path) -> None:
        """Write the model as the embedder serves it; the folder is whole or not there."""
        part = folder.with_name(f".{folder.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        self.model.max_seq_length = self._max_tokens
        if self._remembering:
            self._remembering.close()
        self.model.save_pretrained(str(part), create_model_card=False)
        (part / "README.md").write_text(card, encoding="utf-8")
        if licence.is_file():
            shutil.copyfile(licence, part / "LICENSE")
        for one in part.glob("*.safetensors"):
            one.chmod(0o644)  # safetensors writes it for its owner only
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)

    def shorten(self) -> None:
        """Read as many tokens as training reads."""
        self.model.max_seq_length = self._trained_tokens


def _choose_weights(model: Any, last: int) -> None:
    if not last:
        return
    layers = getattr(getattr(model.base_model, "encoder", None), "layer", None)
    if layers is None or last > len(layers):
        there = "no layers that can be chosen" if layers is None else f"{len(layers)} layers"
        raise BadInput(f"--layers {last}: the model has {there}; 0 trains every weight")
    for one in model.base_model.parameters():
        one.requires_grad_(False)
    pooler = getattr(model.base_model, "pooler", None)
    for part in (*layers[len(layers) - last :], *([pooler] if pooler is not None else [])):
        for one in part.parameters():
            one.requires_grad_(True)


def balanced_accuracy(scores: Scores, labels: Sequence[int]) -> float:
    """The mean over the labels that there are of the share that has the most of the probability, 0 to 1."""
    wanted, chosen = np.asarray(labels), scores.argmax(axis=1)
    return float(np.mean([np.mean(chosen[wanted == label] == label) for label in np.unique(wanted)]))


def train(
    verifier: VerifierModel,
    examples: Sequence[Example],
    develop: Sequence[Example],
    recipe: Recipe,
    budget: Budget,
    out: Path,
    say: Callable[[str], None],
) -> Trained:
    """Train, from the last whole checkpoint of `out` where there is one; the best weights are loaded at the end.

    Args:
        verifier: What is trained.
        examples: To train on.
        develop: Looked at at each checkpoint; none: the last weights count.
        recipe: How.
        budget: How long.
        out: Folder of checkpoints and logs.
        say: Takes lines about the work.

    Raises:
        OutOfMemory: A step does not fit.
    """
    shown = [(one.premise, one.sentence) for one in develop]
    labels = [one.label for one in develop]
    verifier.shorten()
    memory = (
        f"out of memory in a step of {recipe.batch} pairs of up to {recipe.max_tokens} tokens: lower --batch "
        f"({recipe.batch}), --max-tokens ({recipe.max_tokens}) or --layers ({recipe.layers}); these change what is "
        "learned, so take another --out"
    )
    return long_runs.train(
        _Trainer,
        CrossEncoderTrainingArguments(**usual_arguments(recipe, out, verifier.model.device)),
        verifier,
        recipe,
        budget,
        look=Look(LOOK, lambda: balanced_accuracy(verifier.score(shown), labels)) if develop else None,
        say=say,
        memory=memory,
        model=verifier.model,
        train_dataset=Dataset.from_dict(
            {
                "passage": [one.premise for one in examples],
                "sentence": [one.sentence for one in examples],
                "label": [one.label for one in examples],
            }
        ),
        loss=CrossEntropyLoss(verifier.model),
    )


class _Trainer(PacedTrainer, CrossEncoderTrainer):
    """Sentence-transformers' trainer, paced."""
