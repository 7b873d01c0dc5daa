"""The model that is trained: its towers, which of its weights move, what a checkpoint keeps, and its vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from peft import LoraConfig, inject_adapter_in_model
from peft.tuners.tuners_utils import BaseTunerLayer
from quelea_evaluation.inputs import BadInput
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, Router
from transformers.utils.logging import disable_progress_bar

from quelea_training.checkpoints import MovingWeights
from quelea_training.encoder.examples import Kind
from quelea_training.encoder.measures import Vectors
from quelea_training.encoder.recipe import Recipe
from quelea_training.remembering import Remembering, remember

# Of loading weights: a second, and the lines about the work are ours.
disable_progress_bar()  # type: ignore[no-untyped-call]  # it has no annotations

_LORA_LAYERS = ["query", "key", "value", "dense"]
_ROUTES = {"query": "query", "passage": "document"}


class Towers(MovingWeights):
    """A base model made ready for a recipe.

    Vectors of the model are as it pools them; where it is served they are of unit length.

    Args:
        base: Folder of a sentence-transformers model.
        recipe: How it is trained.
        device: cpu, cuda, …; empty chooses.

    Raises:
        BadInput: The folder holds no such model, or one without layers that can be chosen.
    """

    def __init__(self, base: Path, recipe: Recipe, device: str = "") -> None:
        if not (base / "modules.json").is_file():
            raise BadInput(f"{base} is no sentence-transformers model; name one with --base")
        torch.manual_seed(recipe.seed)
        kinds: tuple[Kind, ...] = ("query",) if recipe.towers == 1 else ("query", "passage")
        self.towers: dict[Kind, SentenceTransformer] = {kind: _load(base, device) for kind in kinds}
        one = self.towers["query"]
        self.prompts: dict[Kind, str] = {
            "query": one.prompts.get("query") or "",
            "passage": one.prompts.get("passage") or one.prompts.get("document") or "",
        }
        self.max_tokens = int(one.max_seq_length or 512)
        self._moving = recipe.layers()
        for tower in self.towers.values():
            _choose_weights(tower, recipe)
        self.trained = one if recipe.towers == 1 else self._join(device)
        self._remembering: list[Remembering] = []
        super().__init__(self.trained)

    def _join(self, device: str) -> SentenceTransformer:
        router = Router.for_query_document(_modules(self.towers["query"]), _modules(self.towers["passage"]))
        joined = SentenceTransformer(modules=[router], device=device or None)
        joined.to(next(self.towers["query"].parameters()).device)
        return joined

    def tower(self, kind: Kind) -> SentenceTransformer:
        """That encodes a kind of text."""
        return self.towers.get(kind) or self.towers["query"]

    def encode(self, texts: Sequence[str], kind: Kind, batch: int = 16) -> Vectors:
        """Pooled vectors, shape (texts, dimension), read up to the model's own limit of tokens."""
        tower = self.tower(kind)
        before, tower.max_seq_length = tower.max_seq_length, self.max_tokens
        was_training = tower.training
        try:
            found = tower.encode(
                list(texts), batch_size=batch, prompt=self.prompts[kind], show_progress_bar=False, convert_to_numpy=True
            )
        finally:
            tower.max_seq_length = before
            tower.train(was_training)
        return np.asarray(found, dtype=np.float32)

    def remember(self, most: int, say: Callable[[str], None]) -> None:
        """Keep what the layers give that do not move, until `merge`; nothing where all move.

        Args:
            most: MiB of it, at most; 0: keep nothing.
            say: Is told where it cannot be done.
        """
        for tower in self.towers.values():
            kept = remember(transformer_of(tower), self._moving, most // len(self.towers), say)
            self._remembering += [kept] if kept else []

    def merge(self) -> None:
        """Put adapters into the weights that they change; afterwards there are none, and nothing is remembered."""
        while self._remembering:
            self._remembering.pop().close()
        for tower in self.towers.values():
            for name, layer in list(tower.named_modules()):
                if isinstance(layer, BaseTunerLayer):
                    layer.merge()
                    tower.set_submodule(name, layer.get_base_layer())

    def routes(self, columns: Sequence[str]) -> dict[str, str]:
        """Column of the training set -> route of the joined model; nothing for one tower."""
        if len(self.towers) == 1:
            return {}
        return {column: _ROUTES[_kind_of(column)] for column in columns}

    def column_prompts(self, columns: Sequence[str]) -> dict[str, str]:
        """Column of the training set -> what is put before its texts."""
        return {column: self.prompts[_kind_of(column)] for column in columns}


def _kind_of(column: str) -> Kind:
    return "query" if column.endswith("query") else "passage"


def _load(base: Path, device: str) -> SentenceTransformer:
    model = SentenceTransformer(str(base), device=device or None, local_files_only=True)
    return SentenceTransformer(
        modules=[one for one in _modules(model) if not isinstance(one, Normalize)],
        prompts={name: prompt or "" for name, prompt in model.prompts.items()},
        device=device or None,
    )


def _modules(model: SentenceTransformer) -> list[Any]:
    return list(model.children())


def transformer_of(tower: SentenceTransformer) -> Any:  # a PreTrainedModel, whose attributes differ by architecture
    """The model of transformers inside."""
    return tower[0].auto_model


def _choose_weights(tower: SentenceTransformer, recipe: Recipe) -> None:
    model = transformer_of(tower)
    tower.max_seq_length = min(recipe.max_tokens, int(tower.max_seq_length or recipe.max_tokens))
    last = recipe.layers()
    if recipe.tune == "full":
        return
    for one in model.parameters():
        one.requires_grad_(False)
    if recipe.tune == "lora":
        inject_adapter_in_model(
            LoraConfig(
                r=recipe.rank, lora_alpha=recipe.alpha, lora_dropout=recipe.dropout, target_modules=_LORA_LAYERS
            ),
            model,
        )
        return
    layers = getattr(getattr(model, "encoder", None), "layer", None)
    if layers is None or last > len(layers):
        there = "no layers that can be chosen" if layers is None else f"{len(layers)} layers"
        raise BadInput(f"--tune {recipe.tune}: the model has {there}; take lora or full")
    for layer in layers[len(layers) - last :]:
        for one in layer.parameters():
            one.requires_grad_(True)
