"""The training itself: sentence-transformers' trainer, checkpoints that no kill spoils, a clock, early stopping."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from datasets import Dataset
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.reports.store import write_json
from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from sentence_transformers.sentence_transformer.losses import (
    CachedMultipleNegativesRankingLoss,
    MultipleNegativesRankingLoss,
)
from sentence_transformers.sentence_transformer.model_card import SentenceTransformerModelCardCallback
from sentence_transformers.sentence_transformer.training_args import BatchSamplers
from tensorboardX import SummaryWriter
from torch.optim.lr_scheduler import LambdaLR
from transformers import PrinterCallback, TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from quelea_training.encoder.objective import WeaverBirdLoss
from quelea_training.encoder.recipe import Recipe
from quelea_training.encoder.towers import Towers

WEIGHTS = "trained.safetensors"
_CHECKPOINTS, _LOGS, _BEST, _PROGRESS = "checkpoints", "logs", "best.safetensors", "progress.json"
_KEPT = 2
_SAY_EVERY = 15.0
_LEAST_RATE = 0.05
_STATE = "trainer_state.json"


@dataclass(frozen=True)
class Budget:
    """How long, and how often it is looked at; nothing of it decides what is learned in a step."""

    minutes: float = 0.0
    """0: the recipe's epochs decide. Else the learning rate falls to nothing by then, or by the last step."""
    interval: int = 25
    """Steps between checkpoints, each with a look at the development split."""
    patience: int = 4
    """Looks without a better one after which training ends."""
    threads: int = 0
    """Of torch; 0 leaves it to torch."""


@dataclass
class Progress:
    """What a run that goes on must know beside its checkpoint."""

    seconds: float = 0.0
    best: float = -1.0
    best_step: int = 0
    worse: int = 0
    """Looks since the best one."""


@dataclass(frozen=True)
class Trained:
    """What came out."""

    steps: int
    seconds: float
    best: float
    """The development measure of the weights that were kept; negative where there was none."""
    best_step: int
    why: str
    """Why it ended."""
    log: list[dict[str, Any]]


class OutOfMemory(BadInput):
    """A step does not fit; the message says which setting to lower."""


def train(
    towers: Towers,
    columns: Mapping[str, list[str]],
    recipe: Recipe,
    budget: Budget,
    out: Path,
    *,
    look: Callable[[], float] | None,
    say: Callable[[str], None],
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

    Raises:
        OutOfMemory: A step does not fit.
    """
    if budget.threads:
        torch.set_num_threads(budget.threads)
    random.seed(recipe.seed)
    np.random.seed(recipe.seed)
    torch.manual_seed(recipe.seed)
    clock = _Clock(towers, budget, out, look, say, recipe.warm_up)
    trainer = _Trainer(
        towers,
        clock,
        model=towers.trained,
        args=_arguments(towers, columns, recipe, out),
        train_dataset=Dataset.from_dict(dict(columns)),
        loss=_loss(towers, recipe),
        callbacks=[clock],
    )
    trainer.remove_callback(PrinterCallback)  # the clock says it, and not on standard output
    trainer.remove_callback(SentenceTransformerModelCardCallback)  # the card is ours
    last = last_checkpoint(out)
    clock.begin(last)
    try:
        trainer.train(resume_from_checkpoint=None if last is None else str(last))
    except (MemoryError, RuntimeError) as error:
        if not _is_memory(error):
            raise
        raise OutOfMemory(
            f"out of memory in a step of {recipe.batch} queries with {len(columns)} texts each: lower --batch "
            f"({recipe.batch}), set --chunk {max(recipe.batch // 4, 1)}, or lower --max-tokens ({recipe.max_tokens}); "
            "the same command goes on from the last checkpoint where only --chunk changed"
        ) from error
    finally:
        clock.close()
    if look is not None and (out / _BEST).is_file():
        towers.load(out / _BEST)
    return Trained(
        steps=trainer.state.global_step,
        seconds=round(clock.progress.seconds, 1),
        best=clock.progress.best,
        best_step=clock.progress.best_step or trainer.state.global_step,
        why=clock.why or "all steps are done",
        log=[dict(row) for row in trainer.state.log_history],
    )


def rate_at(done: float, warm_up: float) -> float:
    """Of the highest learning rate, 0 to 1: a rise over the share `warm_up` of the work, then a fall to nothing.

    Args:
        done: Of the work, counted in steps or in time, 0 to 1.
        warm_up: 0 to 1.
    """
    risen = min(max(done / warm_up, _LEAST_RATE), 1.0) if warm_up else 1.0  # the first step moves, too
    return max(risen * (1.0 - done), 0.0)


def last_checkpoint(out: Path) -> Path | None:
    """The newest checkpoint that is whole: its state, which is written after the weights, can be read."""
    found = [
        (int(one.name.rpartition("-")[2]), one)
        for one in (out / _CHECKPOINTS).glob("checkpoint-*")
        if one.name.rpartition("-")[2].isdecimal()
    ]
    for _, one in sorted(found, reverse=True):
        try:
            json.loads((one / _STATE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if (one / WEIGHTS).is_file() and (one / _PROGRESS).is_file():
            return one
    return None


def _is_memory(error: BaseException) -> bool:
    said = str(error).lower()
    return (
        isinstance(error, (MemoryError, torch.OutOfMemoryError)) or "out of memory" in said or "allocate memory" in said
    )


def _arguments(
    towers: Towers, columns: Mapping[str, list[str]], recipe: Recipe, out: Path
) -> SentenceTransformerTrainingArguments:
    names = list(columns)
    return SentenceTransformerTrainingArguments(
        output_dir=str(out / _CHECKPOINTS),
        per_device_train_batch_size=recipe.batch,
        num_train_epochs=recipe.epochs,
        learning_rate=recipe.rate,
        weight_decay=0.01,
        max_grad_norm=1.0,
        seed=recipe.seed,
        data_seed=recipe.seed,
        batch_sampler=BatchSamplers.NO_DUPLICATES,
        prompts=towers.column_prompts(names),
        router_mapping=towers.routes(names),
        logging_strategy="steps",
        logging_steps=5,
        save_strategy="no",  # the clock says when
        save_total_limit=_KEPT,
        report_to=[],
        disable_tqdm=True,
        dataloader_drop_last=False,
        use_cpu=towers.trained.device.type == "cpu",
    )


def _loss(towers: Towers, recipe: Recipe) -> torch.nn.Module:
    if recipe.objective == "weaverbird":
        return WeaverBirdLoss(towers.trained)
    if recipe.chunk:
        return CachedMultipleNegativesRankingLoss(towers.trained, scale=recipe.scale, mini_batch_size=recipe.chunk)
    return MultipleNegativesRankingLoss(towers.trained, scale=recipe.scale)


class _Trainer(SentenceTransformerTrainer):
    """The trainer, with checkpoints of the moving weights alone and a learning rate that knows the clock."""

    def __init__(self, towers: Towers, clock: _Clock, **arguments: Any) -> None:
        self._towers = towers
        self._clock = clock
        super().__init__(**arguments)

    def create_scheduler(self, num_training_steps: int, optimizer: Any = None) -> Any:
        """Warm up, then fall to nothing at the last step or at the end of time, whichever is nearer."""

        def factor(step: int) -> float:
            done = max(step / max(num_training_steps, 1), self._clock.share())
            return rate_at(done, self._clock.warm_up)

        self.lr_scheduler = LambdaLR(optimizer or cast("torch.optim.Optimizer", self.optimizer), factor)
        return self.lr_scheduler

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        del state_dict
        self._towers.save(Path(output_dir or str(self.args.output_dir)) / WEIGHTS)

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
        del model
        self._towers.load(Path(resume_from_checkpoint) / WEIGHTS)


class _Clock(TrainerCallback):
    """Says how far it is and how long it takes, looks at the development split, and ends what takes too long."""

    def __init__(
        self,
        towers: Towers,
        budget: Budget,
        out: Path,
        look: Callable[[], float] | None,
        say: Callable[[str], None],
        warm_up: float,
    ) -> None:
        self.progress = Progress()
        self.why = ""
        self.warm_up = warm_up
        self._towers = towers
        self._budget = budget
        self._out = out
        self._writer = SummaryWriter(str(out / _LOGS))
        self._look = look
        self._say = say
        self._since = time.monotonic()
        self._said = 0.0

    def begin(self, checkpoint: Path | None) -> None:
        """Before training; with a checkpoint it goes on from there."""
        if checkpoint is not None:
            self.progress = Progress(**json.loads((checkpoint / _PROGRESS).read_text(encoding="utf-8")))
            self._say(f"going on from {checkpoint.name}, after {self.progress.seconds / 60:.1f} minutes of work")
        self._since = time.monotonic() - self.progress.seconds

    def close(self) -> None:
        """Write what the logs still hold."""
        self._writer.close()

    def share(self) -> float:
        """Of the time, 0 to 1; 0 where there is no budget."""
        limit = self._budget.minutes * 60
        return min((time.monotonic() - self._since) / limit, 1.0) if limit else 0.0

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> TrainerControl:
        """After each step."""
        del args
        at = time.monotonic()
        self.progress.seconds = at - self._since
        over = bool(self._budget.minutes) and self.share() >= 1
        last = over or state.global_step >= state.max_steps
        if at - self._said > _SAY_EVERY or last:
            self._said = at
            self._tell(state)
        if state.global_step % self._budget.interval == 0 or last:
            self._judge(state)
            control.should_save = True
        if over:
            self.why = self.why or f"the time of {self._budget.minutes:g} minutes is over"
        if self.why:
            control.should_training_stop = True
        return control

    def on_log(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **given: Any) -> None:
        """Loss, learning rate and size of the gradient, for TensorBoard."""
        del args, control
        for name, value in (given.get("logs") or {}).items():
            if isinstance(value, (int, float)):
                self._writer.add_scalar(f"train/{name}", value, state.global_step)

    def on_save(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """A checkpoint is there."""
        del control
        folder = Path(str(args.output_dir)) / f"checkpoint-{state.global_step}"
        write_json(folder / _PROGRESS, asdict(self.progress))

    def _judge(self, state: TrainerState) -> None:
        if self._look is None:
            return
        value = self._look()
        better = value > self.progress.best
        state.log_history.append({"step": state.global_step, "dev": round(value, 4)})
        self._writer.add_scalar("dev/map", value, state.global_step)
        self._say(f"step {state.global_step}: development {value:.4f}{' (best)' if better else ''}")
        if better:
            self.progress.best, self.progress.best_step, self.progress.worse = value, state.global_step, 0
            self._towers.save(self._out / _BEST)
            return
        self.progress.worse += 1
        if self.progress.worse >= self._budget.patience:
            self.why = f"the development split has been no better {self.progress.worse} times"

    def _tell(self, state: TrainerState) -> None:
        loss = next((row["loss"] for row in reversed(state.log_history) if "loss" in row), None)
        pace = self.progress.seconds / max(state.global_step, 1)
        left = pace * (state.max_steps - state.global_step)
        if self._budget.minutes:
            left = min(left, self._budget.minutes * 60 - self.progress.seconds)
        shown = "" if loss is None else f", loss {loss:.3f}"
        self._say(
            f"step {state.global_step} of {state.max_steps}{shown}, {pace:.1f} s a step, "
            f"{max(left, 0) / 60:.0f} min left"
        )
