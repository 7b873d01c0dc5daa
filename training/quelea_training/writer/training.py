"""The training itself: trl's trainer for supervised tuning; the loss is that of the answer's tokens alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from quelea_evaluation.inputs import BadInput
from trl.trainer.sft_config import SFTConfig
from trl.trainer.sft_trainer import SFTTrainer

from quelea_training import long_runs
from quelea_training.long_runs import Budget, Look, PacedTrainer, Trained, usual_arguments
from quelea_training.writer.base import Writer
from quelea_training.writer.model import Sample
from quelea_training.writer.recipe import Recipe

LOOK = "probability of an answer's token"
"""The development measure: the geometric mean over tokens, exp(-loss), 0 to 1."""
_IGNORED = -100


def train(
    writer: Writer,
    samples: Sequence[Sample],
    develop: Sequence[Sample],
    recipe: Recipe,
    budget: Budget,
    out: Path,
    say: Callable[[str], None],
) -> Trained:
    """Train on the samples, from the last whole checkpoint of `out` where there is one; the best weights are loaded.

    Args:
        writer: What is trained.
        samples: To train on.
        develop: Looked at at each checkpoint; none: the last weights count.
        recipe: How.
        budget: How long.
        out: Folder of checkpoints and logs.
        say: Takes lines about the work.

    Raises:
        BadInput: No sample is short enough.
        OutOfMemory: A step does not fit.
    """
    fitting = fit(writer, samples, recipe.max_tokens)
    if not fitting:
        raise BadInput(f"none of {len(samples)} samples has {recipe.max_tokens} tokens or fewer; raise --max-tokens")
    if len(fitting) < len(samples):
        over = len(samples) - len(fitting)
        say(f"{over} of {len(samples)} samples are longer than {recipe.max_tokens} tokens: left out")
    shown = [encode(writer, one) for one in fit(writer, develop, recipe.max_tokens)]
    memory = (
        f"out of memory in a step of {recipe.batch} samples of up to {recipe.max_tokens} tokens: lower --batch "
        f"({recipe.batch}) and raise --accumulate ({recipe.accumulate}) as much, lower --max-tokens "
        f"({recipe.max_tokens}), or give --checkpointing; these change what is learned, so take another --out"
    )
    return long_runs.train(
        _Trainer,
        _arguments(writer, recipe, out),
        writer,
        recipe,
        budget,
        look=Look(LOOK, lambda: likelihood(writer, shown)) if shown else None,
        say=say,
        memory=memory,
        model=writer.model,
        train_dataset=Dataset.from_list(
            [
                {
                    "prompt": [dict(message) for message in one.messages],
                    "completion": [{"role": "assistant", "content": one.output}],
                }
                for one in fitting
            ]
        ),
        processing_class=writer.tokenizer,
    )


def encode(writer: Writer, sample: Sample) -> tuple[list[int], int]:
    """Tokens of prompt and answer, and how many are the prompt's."""
    messages = [dict(one) for one in sample.messages]
    prompt = writer.tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    answer = [{"role": "assistant", "content": sample.output}]
    whole = writer.tokenizer.apply_chat_template([*messages, *answer], tokenize=False)
    first = writer.tokenizer(prompt, add_special_tokens=False)["input_ids"]
    return writer.tokenizer(whole, add_special_tokens=False)["input_ids"], len(first)


def fit(writer: Writer, samples: Sequence[Sample], most: int) -> list[Sample]:
    """Those with so many tokens at most."""
    return [one for one in samples if len(encode(writer, one)[0]) <= most]


@torch.no_grad()
def likelihood(writer: Writer, encoded: Sequence[tuple[list[int], int]]) -> float:
    """The geometric mean of the probabilities of the answers' tokens, 0 to 1."""
    was_training = writer.model.training
    writer.model.eval()
    loss = tokens = 0.0
    try:
        for ids, prompt in encoded:
            given = torch.tensor([ids], device=writer.model.device)
            labels = given.clone()
            labels[:, :prompt] = _IGNORED
            count = len(ids) - prompt
            loss += float(writer.model(input_ids=given, labels=labels).loss) * count
            tokens += count
    finally:
        writer.model.train(was_training)
    return math.exp(-loss / tokens) if tokens else 0.0


def _arguments(writer: Writer, recipe: Recipe, out: Path) -> SFTConfig:
    return SFTConfig(
        **usual_arguments(recipe, out, writer.model.device) | {"logging_steps": 1},
        gradient_accumulation_steps=recipe.accumulate,
        max_length=None,  # what is longer was left out
        completion_only_loss=True,
        packing=False,
        gradient_checkpointing=recipe.checkpointing,
        bf16=recipe.dtype == "bfloat16",
        eval_strategy="no",
        dataloader_pin_memory=False,
    )


class _Trainer(PacedTrainer, SFTTrainer):
    """trl's trainer, paced."""

    def create_model_card(self, *_: Any, **__: Any) -> None:
        """The card is ours."""

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        PacedTrainer._save(self, output_dir, state_dict)
