"""How an encoder is trained: all that decides the result beside base model and pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from quelea_evaluation.inputs import BadInput

from quelea_training.recipe import BaseRecipe

Objective = Literal["infonce", "weaverbird"]
OBJECTIVES: tuple[Objective, ...] = get_args(Objective)


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """Settings of one training; an interrupted run is resumed only under the same."""

    objective: Objective = "infonce"
    """infonce: all other passages of the batch are negatives, and `hard` from the product's search. weaverbird: the
    paper's, the dot product against one positive and five random negatives."""
    towers: int = 1
    """1: queries and passages share one model. 2: f_query and f_key, which begin as the same."""
    tune: str = "lora"
    """lora: adapters of low rank in every attention and feed-forward layer. full: every weight. last:N: the last N
    layers."""
    rank: int = 16
    alpha: int = 32
    dropout: float = 0.1
    rate: float = 2e-4
    """Highest learning rate; a hundredth is ordinary for all weights."""
    chunk: int = 0
    """Texts that are in memory at once: gradients are cached, steps take a quarter longer. 0: the whole batch."""
    hard: int = 1
    """Hard negatives of a query."""
    swap_headers: bool = False
    """The last negative of a query that names the company of its passage is that passage under the header of another
    document: same words, another company or period."""
    random: int = 5
    """Random negatives of a query, of the objective weaverbird."""
    scale: float = 100.0
    """By which a cosine is multiplied (infonce), 1 / temperature. E5 was trained with a temperature of .01 (arXiv
    2212.03533), so its cosines lie close together; a smaller scale spreads them all, also of texts that nothing is
    learned about."""
    max_tokens: int = 256
    epochs: float = 3.0
    anchor: float = 0.0
    """Weight of the anchor: how dear it is that texts of `--anchor` get other vectors than the base gives them, as
    1 - cosine. 0: there is none."""

    def layers(self) -> int:
        """N of last:N; 0 of the others.

        Raises:
            BadInput: Neither.
        """
        if self.tune in ("lora", "full"):
            return 0
        name, _, count = self.tune.partition(":")
        if name != "last" or not count.isdecimal() or int(count) == 0:
            raise BadInput(f"--tune must be lora, full or last:N (N layers, such as last:4), got {self.tune!r}")
        return int(count)

    def check(self) -> None:
        """Refuse what cannot be trained.

        Raises:
            BadInput: With the option that is wrong.
        """
        super().check()
        self.layers()
        if self.objective not in OBJECTIVES:
            raise BadInput(f"--objective must be one of {', '.join(OBJECTIVES)}, got {self.objective!r}")
        if self.swap_headers and (self.objective != "infonce" or not self.hard):
            raise BadInput("--swap-headers is for infonce with --hard 1 or more")
        if self.scale <= 0:
            raise BadInput(f"--scale must be more than 0, got {self.scale:g}")
        if self.anchor < 0:
            raise BadInput(f"--anchor-weight must be 0 or more, got {self.anchor:g}")
        if self.anchor and self.chunk:
            raise BadInput("--chunk does not go with --anchor: lower --batch instead")
        if self.towers not in (1, 2):
            raise BadInput(f"--towers must be 1 or 2, got {self.towers}")
        if self.chunk > self.batch:
            raise BadInput(f"--chunk ({self.chunk}) must not be above --batch ({self.batch})")
        if self.chunk and self.objective == "weaverbird":
            raise BadInput("--chunk is for infonce; weaverbird needs few texts at once: lower --batch")
