"""What layers that do not move give, from memory as computed anew."""

from __future__ import annotations

import pytest
import torch
from quelea_training.remembering import Remembering, remember
from torch import Tensor
from transformers import BertConfig, BertModel

PAD = 1
IDS = torch.tensor([[5, 6, 7, 8, 9, 2], [5, 6, PAD, 8, 2, PAD], [9, 2, PAD, PAD, PAD, PAD]])
MASK = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 0], [1, 1, 0, 0, 0, 0]])


def model(pad: int | None = PAD) -> BertModel:
    torch.manual_seed(3)
    sizes = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 32}
    return BertModel(BertConfig(**sizes, vocab_size=20, max_position_embeddings=16, pad_token_id=pad)).eval()


def states(one: BertModel) -> Tensor:
    """Of the texts' own tokens: what stands behind them is nobody's."""
    with torch.no_grad():
        found: Tensor = one(input_ids=IDS, attention_mask=MASK).last_hidden_state
    return found[MASK.bool()]


@pytest.mark.parametrize("most", [1, 0])
def test_states_are_those_of_the_model_also_where_a_text_has_the_token_that_fills_up(most: int) -> None:
    one = model()
    wanted = states(one)
    kept = Remembering(one, 1, most)
    for _ in range(2):
        assert torch.allclose(states(one), wanted, atol=1e-5)
    assert len(kept._known) == (4 if most else 0)  # the probe's text and these
    kept.close()
    assert torch.equal(states(one), wanted)


def test_layers_that_do_not_move_have_no_dropout_and_stay_within_their_memory() -> None:
    one = model()
    kept = Remembering(one, 1, 1)
    one.train()
    with torch.no_grad():
        first, second = (one.embeddings(input_ids=IDS[:1]) for _ in range(2))
        kept._known.clear()
        assert torch.equal(first, second)
        assert torch.equal(one.embeddings(input_ids=IDS[:1]), first)
        for at in range(3, 20):
            for other in range(3, 20):
                for third in range(3, 20):
                    one.embeddings(input_ids=torch.tensor([[at, other, third, 2]]))
    held = sum(it.numel() * it.element_size() for it in kept._known.values())
    assert 0 < held <= 1 << 20


def test_a_model_that_names_no_filling_token_is_computed_as_ever() -> None:
    said: list[str] = []
    assert remember(model(None), 1, 8, said.append) is None
    assert "fills a batch up" in said[0]
