"""WeaverBird's objective (arXiv 2308.05361, 2.2): a query's dot product with its passage against random others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from sentence_transformers import SentenceTransformer
from torch import Tensor, nn
from torch.nn import functional


class WeaverBirdLoss(nn.Module):
    """The mean over queries of −(q·e₀ − log Σᵢ exp(q·eᵢ)), i from 0 (the passage) to I (its own random negatives).

    Other queries' passages are no negatives. Vectors are as they are pooled, and there is no temperature.
    """

    def __init__(self, model: SentenceTransformer, scale: float = 1.0) -> None:
        super().__init__()
        self.model = model
        self.scale = scale

    def forward(self, sentence_features: Iterable[dict[str, Tensor]], labels: Any = None) -> Tensor:
        """Features of the queries, the passages, then each column of negatives; the loss, a scalar."""
        del labels
        query, *others = [self.model(one)["sentence_embedding"] for one in sentence_features]
        return weaverbird(query, torch.stack(others, dim=1), self.scale)


class AnchoredLoss(nn.Module):
    """An objective, and that some texts keep the vectors of the base, so that little else is forgotten.

    The last columns of a batch are such texts, a column for each row of `kept`; the label is their place in it.

    Args:
        own: The objective, of the columns before.
        model: That encodes, the objective's own.
        kept: Shape (columns, texts, dimension): vectors of the base, of unit length.
        weight: Of the mean of 1 - cosine over the texts.
    """

    def __init__(self, own: nn.Module, model: nn.Module, kept: Tensor, weight: float) -> None:
        super().__init__()
        self.own = own
        self.model = model
        self.weight = weight
        self.kept = nn.Buffer(kept, persistent=False)

    def forward(self, sentence_features: Iterable[dict[str, Tensor]], labels: Tensor) -> Tensor:
        """The loss, a scalar."""
        features = list(sentence_features)
        count = len(self.kept)
        loss: Tensor = self.own(features[:-count], None)
        for one, wanted in zip(features[-count:], self.kept, strict=True):
            vectors = self.model(one)["sentence_embedding"]
            near = functional.cosine_similarity(vectors, wanted[labels.flatten()], dim=1)
            loss = loss + self.weight / count * (1 - near).mean()
        return loss


def weaverbird(query: Tensor, passages: Tensor, scale: float = 1.0) -> Tensor:
    """The loss of vectors.

    Args:
        query: Shape (queries, dimension).
        passages: Shape (queries, 1 + negatives, dimension); the first of each is right.
        scale: What products are multiplied with.
    """
    products = torch.einsum("qd,qpd->qp", query, passages) * scale
    return functional.cross_entropy(products, torch.zeros(len(query), dtype=torch.long, device=query.device))
