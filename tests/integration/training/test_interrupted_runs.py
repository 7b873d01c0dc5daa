"""What a run keeps when it is ended between two writes: tried in one process, on a model of one weight."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from quelea_evaluation.reports.store import BadRun, read_manifest, write_json
from quelea_training import long_runs, runs
from quelea_training.checkpoints import BEST, MovingWeights, last_checkpoint, processes_of
from quelea_training.encoder import running
from quelea_training.long_runs import Budget, Look, PacedTrainer, Trained, usual_arguments
from quelea_training.recipe import BaseRecipe
from safetensors.torch import load_file
from transformers import TrainingArguments

pytestmark = pytest.mark.filterwarnings("default")  # of the trainers, whose versions are locked
RECIPE = BaseRecipe(batch=1, epochs=1, rate=1e-2)
STEPS = 12


class Killed(BaseException):
    """As little is done after it as after kill -9."""


class One(torch.nn.Module):
    """A weight that each step moves."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor(1.0))

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        """A loss that grows with the weight."""
        return {"loss": self.weight * x.mean()}


def run(out: Path, looks: Callable[[], float] | None = None, **budget: Any) -> tuple[Trained, float]:
    """Train on as many examples as there are steps; the weight at the end, too."""
    model = One()
    weights = MovingWeights(model)
    trained = long_runs.train(
        PacedTrainer,
        TrainingArguments(**usual_arguments(RECIPE, out, torch.device("cpu"))),
        weights,
        RECIPE,
        Budget(**{"interval": 2, "threads": 1, **budget}),
        look=Look("measure", looks) if looks else None,
        say=lambda _: None,
        memory="none",
        model=model,
        train_dataset=[{"x": torch.tensor([1.0])} for _ in range(STEPS)],
    )
    return trained, model.weight.item()


def values(*given: float) -> Callable[[], float]:
    """A look that gives these, one after the other."""
    left = iter(given)
    return lambda: next(left)


def end_at(monkeypatch: pytest.MonkeyPatch, name: str, call: int) -> None:
    """Kill the trainer in the n-th call of a method of its own."""
    kept, calls = getattr(PacedTrainer, name), iter(range(1, STEPS))

    def killed(self: PacedTrainer, *given: Any, **named: Any) -> Any:
        if next(calls) == call:
            raise Killed
        return kept(self, *given, **named)

    monkeypatch.setattr(PacedTrainer, name, killed)


@pytest.mark.parametrize("where", ["save_model", "_save_checkpoint"])
def test_the_best_weights_are_those_of_the_step_that_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """A kill behind the look that was the best one: gone on with, that look is another, as the clock is."""
    with monkeypatch.context() as patch, pytest.raises(Killed):
        end_at(patch, where, 2)
        run(tmp_path / "run", values(0.5, 0.9))
    found, weight = run(tmp_path / "run", values(*[0.1] * 5), patience=9)
    assert (found.best, found.best_step, found.steps) == (0.5, 2, STEPS)
    _, alone = run(tmp_path / "alone", values(0.5, *[0.1] * 5), patience=9)
    assert weight == alone == float(load_file(tmp_path / "run" / BEST)["weight"])


def test_best_weights_that_a_kill_left_uncopied_are_made_up_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checkpoint is whole, the kill comes before its weights are the best ones."""
    copied = iter(range(1, STEPS))
    kept = long_runs.shutil.copyfile

    def copy(*given: Any) -> None:
        if next(copied) == 2:
            raise Killed
        kept(*given)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(long_runs.shutil, "copyfile", copy)
        run(tmp_path / "run", values(0.5, 0.9))
    found, weight = run(tmp_path / "run", values(*[0.1] * 4), patience=9)
    assert (found.best, found.best_step) == (0.9, 4)
    _, alone = run(tmp_path / "alone", values(0.5, 0.9, *[0.1] * 4), patience=9)
    assert weight == pytest.approx(alone, abs=1e-7)


@pytest.mark.parametrize(
    ("looks", "budget", "why"),
    [
        (values(0.5, 0.4, 0.3), {"patience": 2}, "has been no better 2 times"),
        (None, {"minutes": 1e-9}, "the time of 1e-09 minutes is over"),
        (None, {}, "all steps are done"),
    ],
    ids=["early stop", "no time left", "all steps"],
)
def test_a_run_that_came_to_its_end_trains_no_further(
    tmp_path: Path, looks: Callable[[], float] | None, budget: dict[str, Any], why: str
) -> None:
    """It was killed while what came out was measured."""
    first, weight = run(tmp_path, looks, **budget)
    again, same = run(tmp_path, (lambda: 0.9) if looks else None, **budget)
    assert why in first.why
    assert (again.steps, again.why, again.best_step) == (first.steps, first.why, first.best_step)
    assert again.log == first.log[:-1]  # the last row is transformers' word on its own run time
    assert same == weight


def test_more_patience_lets_it_go_on(tmp_path: Path) -> None:
    first, _ = run(tmp_path, values(0.5, 0.4, 0.3), patience=2)
    assert first.steps == 6
    again, _ = run(tmp_path, lambda: 0.9, patience=3)
    assert (again.steps, again.best_step) == (STEPS, 8)


def test_a_run_does_not_go_on_with_another_number_of_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step would be of other examples, and those that were learned from would be counted otherwise."""

    def begin() -> None:
        with runs.begin("some-training", tmp_path, "base", {"base": "1"}, RECIPE, Budget()):
            pass

    begin()
    begin()
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(BadRun, match="processes was 1, is 2"):
        begin()


def test_a_run_from_before_processes_were_counted_goes_on(tmp_path: Path) -> None:
    for _ in range(2):
        with runs.begin("some-training", tmp_path, "base", {"base": "1"}, RECIPE, Budget()):
            pass
        manifest = read_manifest(tmp_path)
        manifest["settings"].pop("processes", None)
        write_json(tmp_path / "manifest.json", manifest)


def test_a_run_of_two_processes_from_before_they_were_counted_is_not_one_of_one(tmp_path: Path) -> None:
    run(tmp_path)
    last = last_checkpoint(tmp_path)
    assert last is not None
    assert processes_of(tmp_path) == 1
    (last / "rng_state.pth").rename(last / "rng_state_0.pth")
    (last / "rng_state_1.pth").touch()
    with runs.begin("some-training", tmp_path, "base", {"base": "1"}, RECIPE, Budget()):
        pass
    manifest = read_manifest(tmp_path)
    manifest["settings"].pop("processes")
    write_json(tmp_path / "manifest.json", manifest)
    begin = runs.begin("some-training", tmp_path, "base", {"base": "1"}, RECIPE, Budget())
    with pytest.raises(BadRun, match="processes was 2, is 1"), begin:
        pass


@pytest.mark.parametrize("rank", ["0", "1"])
def test_each_process_measures_an_encoder_before_so_that_none_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rank: str
) -> None:
    """Where the first alone did, the others waited for it in the group, which has a time-out."""
    measured: list[str] = []
    monkeypatch.setenv("RANK", rank)
    monkeypatch.setattr(running.report, "measure", lambda *given: measured.append(given[2]) or [])
    kept: Any = running._before(tmp_path, None, [], lambda _: None)  # type: ignore[arg-type]  # nothing is encoded
    assert (kept, measured) == ([], ["before"])
    assert (tmp_path / "before.json").is_file() == (rank == "0")
