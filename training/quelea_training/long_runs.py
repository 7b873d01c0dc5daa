"""What every training here keeps to: a clock, checkpoints, early stopping, a word about memory.

In a run of several processes (`accelerate launch`) the first alone writes and speaks, and all end together.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import torch
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.reports.plots import new_figure
from quelea_evaluation.reports.store import write_json
from tensorboardX import SummaryWriter
from torch.optim.lr_scheduler import LambdaLR
from transformers import (
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
    set_seed,
)

from quelea_training.checkpoints import (
    BEST,
    CHECKPOINTS,
    PROGRESS,
    STATE,
    WEIGHTS,
    MovingWeights,
    last_checkpoint,
)
from quelea_training.processes import any_process, is_first, only_first
from quelea_training.recipe import BaseRecipe

_KEPT = 2
"""Checkpoints that stay."""
_LOGS = "logs"
_SAY_EVERY = 15.0
_LEAST_RATE = 0.05


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
    """Of work; a run that ended for want of time has all of it."""
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


@dataclass(frozen=True)
class Look:
    """The measure of the development split."""

    name: str
    """As logs and pictures call it."""
    measure: Callable[[], float]
    """Higher is better, 0 to 1."""


class OutOfMemory(BadInput):
    """A step does not fit; the message says which setting to lower."""


def rate_at(done: float, warm_up: float) -> float:
    """Of the highest learning rate, 0 to 1: a rise over the share `warm_up` of the work, then a fall to nothing.

    Args:
        done: Of the work, counted in steps or in time, 0 to 1.
        warm_up: 0 to 1.
    """
    risen = min(max(done / warm_up, _LEAST_RATE), 1.0) if warm_up else 1.0  # the first step moves, too
    return max(risen * (1.0 - done), 0.0)


def train(
    kind: type[PacedTrainer],
    arguments: TrainingArguments,
    weights: MovingWeights,
    recipe: BaseRecipe,
    budget: Budget,
    *,
    look: Look | None,
    say: Callable[[str], None],
    memory: str,
    **given: Any,
) -> Trained:
    """Train, from the last whole checkpoint of the run where there is one; the best weights are loaded at the end.

    Args:
        kind: The trainer.
        arguments: Its own; `usual_arguments` are among them.
        weights: That move.
        recipe: How.
        budget: How long.
        look: The development split; None: there is none, and the last weights count.
        say: Takes lines about the work.
        memory: What to say where a step does not fit.
        given: To the trainer: model, training set, and what else it takes.

    Raises:
        OutOfMemory: A step does not fit.
    """
    if budget.threads:
        torch.set_num_threads(budget.threads)
    set_seed(recipe.seed)
    out = Path(str(arguments.output_dir)).parent
    clock = Clock(budget, out, look, say, recipe.warm_up)
    trainer = kind(weights, clock, args=arguments, callbacks=[clock], **given)
    trainer.remove_callback(PrinterCallback)
    last = last_checkpoint(out)
    state = clock.begin(last)
    try:
        if last is None or not clock.why:
            trainer.train(resume_from_checkpoint=None if last is None else str(last))
            state = trainer.state
        else:  # it was ended after its training: the report alone is missing
            weights.load(last / WEIGHTS)
    except (MemoryError, RuntimeError) as error:
        if not _is_memory(error):
            raise
        raise OutOfMemory(memory) from error
    finally:
        clock.close()
    any_process(False)  # all wait for the first, which writes the best weights
    if clock.looks and (out / BEST).is_file():
        weights.load(out / BEST)
    return Trained(
        steps=state.global_step,
        seconds=round(clock.progress.seconds, 1),
        best=clock.progress.best,
        best_step=clock.progress.best_step or state.global_step,
        why=clock.why,
        log=[dict(row) for row in state.log_history],
    )


def usual_arguments(recipe: BaseRecipe, out: Path, device: torch.device) -> dict[str, Any]:
    """Of every trainer: the recipe's, and that the clock alone says when something is written or told."""
    return {
        "output_dir": str(out / CHECKPOINTS),
        "per_device_train_batch_size": recipe.batch,
        "num_train_epochs": recipe.epochs,
        "learning_rate": recipe.rate,
        "weight_decay": recipe.weight_decay,
        "max_grad_norm": 1.0,
        "seed": recipe.seed,
        "data_seed": recipe.seed,
        "logging_strategy": "steps",
        "logging_steps": 5,
        "save_strategy": "no",
        "save_total_limit": _KEPT,
        "report_to": [],
        "disable_tqdm": True,
        "use_cpu": device.type == "cpu",
    }


_LOSS, _LOOKS = "#4477aa", "#cc3311"


def draw_log(log: Sequence[Mapping[str, Any]], path: Path, name: str) -> None:
    """Loss and the development measure, called `name`, by step (PNG)."""
    figure, axes = new_figure()
    losses = [(row["step"], row["loss"]) for row in log if "loss" in row]
    looks = [(row["step"], row["dev"]) for row in log if "dev" in row]
    if losses:
        axes.plot(*zip(*losses, strict=True), color=_LOSS)
    axes.set_xlabel("step")
    axes.set_ylabel("loss", color=_LOSS)  # the axis says whose it is: a legend would lie over the lines
    if looks:
        other = axes.twinx()
        other.plot(*zip(*looks, strict=True), "o-", color=_LOOKS)
        other.set_ylabel(f"development {name}", color=_LOOKS)
    figure.savefig(path, dpi=110)


class PacedTrainer(Trainer):
    """A trainer with checkpoints of the moving weights alone and a learning rate that knows the clock.

    It is the first of the bases; the trainer of a library is the second.

    Args:
        weights: That move.
        clock: Which must also be among the callbacks.
        arguments: Of the trainer.
    """

    def __init__(self, weights: MovingWeights, clock: Clock, **arguments: Any) -> None:
        self._weights = weights
        self._clock = clock
        super().__init__(**arguments)

    def create_scheduler(self, num_training_steps: int, optimizer: Any = None) -> Any:
        """Warm up, then fall to nothing at the last step or at the end of time, whichever is nearer."""

        def factor(step: int) -> float:
            done = max(step / max(num_training_steps, 1), self._clock.share())
            return rate_at(done, self._clock.warm_up)

        self.lr_scheduler = LambdaLR(optimizer or cast("torch.optim.Optimizer", self.optimizer), factor)
        return self.lr_scheduler

    def add_model_card_callback(self, default_args_dict: dict[str, Any]) -> None:
        """The card is ours; sentence-transformers' would encode examples for its own."""

    def save_model(self, output_dir: str | None = None, _internal_call: bool = False) -> None:
        """The moving weights. All processes call: where each holds a part (FSDP) they are gathered."""
        del _internal_call
        self._save(output_dir)

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        del state_dict
        self._weights.save(Path(output_dir or str(self.args.output_dir)) / WEIGHTS)

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
        del model
        self._weights.load(Path(resume_from_checkpoint) / WEIGHTS)


class Clock(TrainerCallback):
    """Says how far it is and how long it takes, looks at the development split, and ends what takes too long.

    Args:
        budget: How long.
        out: Folder of logs and of the best weights.
        look: The development split; None: there is none, and the last weights count.
        say: Takes lines about the work.
        warm_up: Share of the work over which the learning rate rises.
    """

    def __init__(
        self,
        budget: Budget,
        out: Path,
        look: Look | None,
        say: Callable[[str], None],
        warm_up: float,
    ) -> None:
        self.progress = Progress()
        self.why = ""
        """Why training has ended; empty as long as it has not."""
        self.warm_up = warm_up
        self._budget = budget
        self._out = out
        self._writer = SummaryWriter(str(out / _LOGS)) if is_first() else None
        self._look = look
        self._say = only_first(say)
        self._since = time.monotonic()
        self._said = 0.0

    @property
    def looks(self) -> bool:
        """Whether there is a development split."""
        return self._look is not None

    def begin(self, checkpoint: Path | None) -> TrainerState:
        """Before training; with a checkpoint it goes on from there.

        Returns:
            The state of the checkpoint. `why` says whether its training had come to its end.
        """
        state = TrainerState()
        if checkpoint is not None:
            self.progress = Progress(**json.loads((checkpoint / PROGRESS).read_text(encoding="utf-8")))
            self._say(f"going on from {checkpoint.name}, after {self.progress.seconds / 60:.1f} minutes of work")
            state = TrainerState.load_from_json(str(checkpoint / STATE))
            self._keep_best(checkpoint, state)
            self.why = self._ending(state)
        self._since = time.monotonic() - self.progress.seconds
        return state

    def close(self) -> None:
        """Write what the logs still hold."""
        if self._writer:
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
        over = any_process(bool(self._budget.minutes) and self.share() >= 1)
        if over:  # by another's clock, perhaps
            self.progress.seconds = max(self.progress.seconds, self._budget.minutes * 60)
        last = over or state.global_step >= state.max_steps
        if at - self._said > _SAY_EVERY or last:
            self._said = at
            self._tell(state)
        if state.global_step % self._budget.interval == 0 or last:
            self._judge(state)
            control.should_save = True
        self.why = self._ending(state)
        if self.why:
            control.should_training_stop = True
        return control

    def on_log(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **given: Any) -> None:
        """Loss, learning rate and size of the gradient, for TensorBoard."""
        del args, control
        for name, value in (given.get("logs") or {}).items():
            if self._writer and isinstance(value, (int, float)):
                self._writer.add_scalar(f"train/{name}", value, state.global_step)

    def on_save(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """A checkpoint is there. Its progress makes it whole, so what is read from it comes after."""
        del control
        if is_first():
            folder = Path(str(args.output_dir)) / f"checkpoint-{state.global_step}"
            write_json(folder / PROGRESS, asdict(self.progress))
            self._keep_best(folder, state)

    def _keep_best(self, checkpoint: Path, state: TrainerState) -> None:
        """Copy the weights of a whole checkpoint where they are the best; after a kill before this it is made up for.

        The file never has weights of a later step than the newest whole checkpoint, from which a run goes on.
        """
        if is_first() and self.progress.best_step == state.global_step:
            scratch = (self._out / BEST).with_suffix(".part")
            shutil.copyfile(checkpoint / WEIGHTS, scratch)
            scratch.replace(self._out / BEST)

    def _ending(self, state: TrainerState) -> str:
        """Why training ends here, from what a checkpoint keeps, so that a run that goes on says the same."""
        limit = self._budget.minutes
        if self._look is not None and self.progress.worse >= self._budget.patience:
            return f"the development split has been no better {self.progress.worse} times"
        if limit and self.progress.seconds >= limit * 60:
            return f"the time of {limit:g} minutes is over"
        return "all steps are done" if state.global_step >= state.max_steps else ""

    def _judge(self, state: TrainerState) -> None:
        if self._look is None:
            return
        value = self._look.measure()
        better = value > self.progress.best
        state.log_history.append({"step": state.global_step, "dev": round(value, 4)})
        if self._writer:
            self._writer.add_scalar(f"dev/{self._look.name}", value, state.global_step)
        self._say(f"step {state.global_step}: development {value:.4f}{' (best)' if better else ''}")
        if better:
            self.progress.best, self.progress.best_step, self.progress.worse = value, state.global_step, 0
        else:
            self.progress.worse += 1

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


def _is_memory(error: BaseException) -> bool:
    said = str(error).lower()
    return (
        isinstance(error, (MemoryError, torch.OutOfMemoryError)) or "out of memory" in said or "allocate memory" in said
    )
