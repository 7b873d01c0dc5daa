"""What layers that do not move give for a text, computed once and kept: with `--tune last:N` all but the last N."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

_SAME = 1e-3
"""Largest difference of an output that rounding makes; states of an encoder are of the order of 1."""
_MIB = 1 << 20


class Remembering:
    """A model whose lower layers give from memory what they gave for the same tokens.

    Each text goes through them alone and without dropout, so that its states are the same in every batch, whether they
    are remembered or not, and in a run that goes on after a kill. Once the memory is full, what is new is computed each
    time: every round reads all texts, so there is no better choice of what to keep.

    Args:
        model: Of transformers, with `embeddings` and `encoder.layer`; its own methods are put in again by `close`.
        moving: Layers, from the top, that are computed each time.
        most: MiB of states, at most.

    Raises:
        ValueError: The model gives something else this way, as one does whose layers share more than states, or names
            no token that fills a batch up.
    """

    def __init__(self, model: Any, moving: int, most: int) -> None:  # attributes of models differ by architecture
        layers = model.encoder.layer
        self._lower = list(layers[: len(layers) - moving])
        self._embeddings = model.embeddings
        if model.config.pad_token_id is None:
            raise ValueError("its settings do not say which token fills a batch up")
        self._pad = int(model.config.pad_token_id)
        self._known: dict[bytes, Tensor] = {}
        self._room = most * _MIB
        self._begin = model.embeddings.forward
        self._through = [layer.forward for layer in self._lower]
        self._put_in(model)

    def _put_in(self, model: Any) -> None:
        ids = torch.arange(3, 11).clamp(max=int(model.config.vocab_size) - 1)[None]
        given = {"input_ids": ids.to(next(model.parameters()).device)}
        was_training = model.training
        model.eval()
        with torch.no_grad():
            wanted = model(**given).last_hidden_state
            self._embeddings.forward = self._states
            for layer in self._lower:
                layer.forward = _pass_on
            try:
                apart = float((model(**given).last_hidden_state - wanted).abs().max())
            except (TypeError, RuntimeError) as error:
                self.close()
                raise ValueError(f"layers cannot be called one by one: {error}") from error
            finally:
                model.train(was_training)
        if not apart < _SAME:
            self.close()
            raise ValueError(f"the model's output differs by {apart:.2g} when its lower layers run alone")

    def close(self) -> None:
        """Let the model compute everything again, and forget."""
        for part in (self._embeddings, *self._lower):
            vars(part).pop("forward", None)
        self._known.clear()

    def _states(self, input_ids: Tensor, token_type_ids: Tensor | None = None, **_: Any) -> Tensor:
        """In the place of the embeddings: states above the lower layers, shape (texts, tokens, hidden)."""
        types = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
        # What is behind a text's last token fills the batch up; the same token within a text is one of its own.
        ends = [int(real.nonzero().max()) + 1 if real.any() else 1 for real in input_ids != self._pad]
        found = [self._of(ids[:end], kinds[:end]) for ids, kinds, end in zip(input_ids, types, ends, strict=True)]
        states = pad_sequence(found, batch_first=True)
        missing = input_ids.shape[1] - states.shape[1]
        return torch.nn.functional.pad(states, (0, 0, 0, missing)) if missing else states

    @torch.no_grad()
    def _of(self, ids: Tensor, types: Tensor) -> Tensor:
        """States of one text, shape (tokens, hidden); types say which of two texts a token is of."""
        key = torch.stack((ids, types)).cpu().numpy().tobytes()
        known = self._known.get(key)
        if known is not None:
            return known
        for part in (self._embeddings, *self._lower):
            part.eval()
        states = self._begin(input_ids=ids[None], token_type_ids=types[None])
        for step in self._through:
            states = step(states, None)
        alone: Tensor = states[0]
        size = alone.numel() * alone.element_size()
        if size <= self._room:
            self._room -= size
            self._known[key] = alone
        return alone


def remember(model: Any, moving: int, most: int, say: Callable[[str], None]) -> Remembering | None:
    """A model's memory, if it can have one and needs it.

    Args:
        model: Of transformers.
        moving: Layers, from the top, that move; 0: all do, and nothing can be remembered.
        most: MiB; 0: remember nothing.
        say: Is told why it cannot be done.
    """
    if not (most and moving):
        return None
    try:
        return Remembering(model, moving, most)
    except ValueError as error:
        say(f"every layer is computed each time: {error}")
        return None


def _pass_on(states: Tensor, *_: Any, **__: Any) -> Tensor:
    """In the place of a lower layer."""
    return states
