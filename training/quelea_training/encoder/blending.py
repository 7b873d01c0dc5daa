"""`quelea train blend`: weights between those before and after a training, against what training forgets (WiSE-FT).

Wortsman et al. 2022, "Robust fine-tuning of zero-shot models", arXiv 2109.01903: θ = (1 - share) θ_base + share
θ_trained. The share is chosen on development splits alone; what is held out is measured once it is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from quelea_evaluation.inputs import BadInput, read_json
from quelea_evaluation.reports.store import RowFile, RunFolder, git_commit, hash_file, read_manifest, write_json
from safetensors.torch import load_file

from quelea_training.encoder import report
from quelea_training.encoder.examples import Bench, Kind, benches, load
from quelea_training.encoder.export import FOLDERS, export
from quelea_training.encoder.recipe import Recipe
from quelea_training.encoder.running import KIND as TRAINING
from quelea_training.encoder.towers import Towers, transformer_of
from quelea_training.pairs.model import PAIRS
from quelea_training.runs import REPORT

KIND = "encoder-blending"
BASE, TRAINED = 0.0, 1.0


@dataclass(frozen=True)
class Rule:
    """Which share is taken."""

    shares: tuple[float, ...] = (0.3, 0.5, 0.7)
    """Of the trained weights; those before (0) and after (1) are looked at, too."""
    allowed: float = 1.0
    """Points of MAP@5 that a source may lose, by passages and by documents."""
    seed: int = 0
    """Of the passages that are chosen from."""

    def check(self) -> None:
        """Refuse what is no share. Raises BadInput."""
        for one in self.shares:
            if not BASE < one < TRAINED:
                raise BadInput(f"--share must be above 0 and below 1, got {one:g}; both ends are always looked at")
        if self.allowed < 0:
            raise BadInput(f"--allowed must be 0 or more points, got {self.allowed:g}")

    def all_shares(self) -> list[float]:
        """From the base to the trained weights."""
        return sorted({BASE, *self.shares, TRAINED})


@dataclass(frozen=True)
class Order:
    """What is blended, into which folder."""

    trained: Path
    """Folder of a finished `quelea train encoder`."""
    tested: tuple[Path, ...]
    """Folders of pairs that watch for losses: their development split chooses, their test split measures. None: those
    of the training."""
    base: Path
    out: Path
    device: str = ""
    test_passages: int = 0
    """Passages of a source that a test chooses from; 0: all."""
    dev_passages: int = 300
    """The same for the development split, which is encoded once a share."""
    remember: int = 0
    """MiB of what the layers give that training left alone; 0: they are computed for each share."""


@dataclass(frozen=True)
class Judged:
    """A share on the development splits, in points of MAP@5 beside the base."""

    share: float
    gain: float
    """The mean over the sources that were trained on, by passages."""
    loss: float
    """The largest of any source, by passages or documents; 0 where none loses."""
    loses: str
    """Where that is."""


def run(order: Order, rule: Rule, say: Callable[[str], None]) -> dict[str, Any]:
    """Look at the shares, choose one, measure it on what is held out, and write its model with a report.

    A run that was ended goes on: a share that was looked at is not looked at again.

    Raises:
        BadInput: Something given cannot be used, or the folder holds a finished run.
        BadRun: `order.trained` is no training, or `order.out` is of other settings or data.
    """
    rule.check()
    commit = git_commit()
    before, folders = _training(order)
    material = load(folders, order.tested or _folders(order.trained, before["tested"]), ("dev", "test"))
    data = {f"pairs {folder}": hash_file(Path(folder) / PAIRS) for folder in material.manifests}
    data |= {"base": before["base_sha256"]}
    data |= {f"trained {name}": hash_file(order.trained / name / "model.safetensors") for name in before["models"]}
    settings = {"shares": list(rule.shares), "allowed": rule.allowed, "seed": rule.seed}
    settings |= {"test_passages": order.test_passages, "dev_passages": order.dev_passages}
    develop = benches(material, "dev", order.dev_passages, rule.seed)
    tests = benches(material, "test", order.test_passages, rule.seed)
    learned = {pair.source for pair in material.pairs.of("train")}
    _refuse_blindness(develop, tests, learned, say)
    with RunFolder(order.out, KIND, settings, data) as folder:
        if "finished" in folder.manifest:
            raise BadInput(f"{order.out} holds a finished run; choose another folder, or remove it")
        # Layers that training left alone give the same at each share.
        moved = before["recipe"]["tune"] if before["recipe"]["tune"] != "lora" else "full"
        towers = Towers(order.base, Recipe(tune=moved, towers=before["recipe"]["towers"]), order.device)
        towers.remember(order.remember, say)
        way = Way(towers, order.trained)
        looks = _measure(way, rule.all_shares(), develop, folder.rows("development", "share"), say)
        judged = judge(looks, learned)
        share = choose(judged, rule.allowed)
        for one in judged:
            where = f" ({one.loses})" if one.loss else ""
            say(f"share {one.share:g}: gains {one.gain:+.1f}, loses {one.loss:.1f} points at most{where}")
        say(f"chosen on the development splits: {share:g}")
        tested = _measure(way, sorted({BASE, share, TRAINED}), tests, folder.rows("test", "share"), say)
        about = {name: value for name, value in before.items() if name != "log"}
        about |= {"name": order.out.name, "blended": order.trained.name, "commit": commit, "share": share}
        about |= {"allowed": rule.allowed, "looks": [vars(one) for one in judged]}
        names: list[str] = []
        if share:
            way.go_to(share)
            text = report.card(about, tables(about, looks, tested))
            names = [one.name for one in export(order.base, towers, order.out, text)]
        found = about | {"models": names, "development": looks, "scores": tested}
        write_json(order.out / REPORT, found)
        folder.finish({"models": names, "share": share})
    return found


class Way:
    """The weights on the straight line from a base to what was trained from it.

    Args:
        towers: With the weights of the base; theirs are changed.
        trained: Folder of the training.

    Raises:
        BadInput: Its models are of another shape than the base.
    """

    def __init__(self, towers: Towers, trained: Path) -> None:
        self.towers = towers
        self._moved: dict[Kind, dict[str, tuple[torch.Tensor, torch.Tensor]]] = {}
        for kind, name in FOLDERS[len(towers.towers)].items():
            file = trained / name / "model.safetensors"
            end = load_file(file)
            begin = transformer_of(towers.tower(kind)).state_dict()
            if {one: value.shape for one, value in begin.items()} != {one: value.shape for one, value in end.items()}:
                raise BadInput(f"{file} has other weights than the base; name with --base what it was trained from")
            self._moved[kind] = {
                one: (value.detach().clone(), end[one].to(value.device))
                for one, value in begin.items()
                if not torch.equal(value.cpu(), end[one])
            }

    @torch.no_grad()
    def go_to(self, share: float) -> None:
        """Give the towers the weights at a share of the way, 0 to 1."""
        for kind, moved in self._moved.items():
            mine = transformer_of(self.towers.tower(kind)).state_dict()  # the model's own memory
            for name, (begin, end) in moved.items():
                mine[name].copy_(torch.lerp(begin, end, share))


def judge(looks: Sequence[Mapping[str, Any]], learned: set[str]) -> list[Judged]:
    """Each share beside the base.

    Args:
        looks: Rows of `report.measure` on development splits, with `share`; the base's among them.
        learned: Sources that were trained on.
    """
    points: dict[tuple[float, str, str], float] = {}
    for source, level in sorted({(row["source"], row["level"]) for row in looks}):
        for share in {row["share"] for row in looks}:
            mine = report.pick(looks, source=source, level=level, similarity="cosine", share=share)
            queries = sum(row["queries"] for row in mine)
            points[share, source, level] = 100 * sum(row["map"] * row["queries"] for row in mine) / queries
    judged = []
    for share in sorted({one for one, *_ in points}):
        change = {(s, level): value - points[BASE, s, level] for (at, s, level), value in points.items() if at == share}
        gains = [value for (source, level), value in change.items() if level == "passage" and source in learned]
        (source, level), worst = min(change.items(), key=lambda one: one[1])
        judged.append(Judged(share, sum(gains) / len(gains), max(0.0, -worst), f"{source}, {level}"))
    return judged


def choose(judged: Sequence[Judged], allowed: float) -> float:
    """The share that gains most of those that lose no more than `allowed` points anywhere; of equal ones the smallest.

    The base loses nothing, so it is chosen where nothing better is.
    """
    return max((one for one in judged if one.loss <= allowed), key=lambda one: (one.gain, -one.share)).share


def tables(about: Mapping[str, Any], looks: Sequence[report.Row], tested: Sequence[report.Row]) -> str:
    """Markdown: the rule, and MAP@5 by share on development splits and on what is held out."""
    return f"""Weights between those of {about["base"]} and of the training {about["blended"]} (WiSE-FT, arXiv
2109.01903): share {about["share"]:g} of the trained ones. It gains most on the development split of what was trained
on, of those that lose at most {about["allowed"]:g} points on any source's. Development splits, MAP@5 by cosine, by
share:

{report.table_of_shares(looks)}

What is held out, which no choice looked at:

{report.table_of_shares(tested)}"""


def _measure(
    way: Way, shares: Sequence[float], measured: Sequence[Bench], rows: RowFile, say: Callable[[str], None]
) -> list[report.Row]:
    known = {row["share"]: row for row in rows}
    for share in shares:
        if share not in known:
            way.go_to(share)
            scores = report.measure(way.towers, measured, f"at share {share:g}", say)
            known[share] = {"share": share, "scores": scores}
            rows.append(known[share])
    return [{**score, "share": share} for share in shares for score in known[share]["scores"]]


def _training(order: Order) -> tuple[dict[str, Any], list[Path]]:
    """The report of the training, and the folders that it learned from."""
    if "finished" not in read_manifest(order.trained, TRAINING):
        raise BadInput(f"the training in {order.trained} is not finished; go on with it by its own command")
    found: dict[str, Any] = read_json(order.trained / REPORT, "the report of a training")
    weights = order.base / "model.safetensors"
    if not weights.is_file() or hash_file(weights) != found["base_sha256"]:
        raise BadInput(
            f"{order.base} is not the model that {order.trained} began with ({found['base']}); name it with --base"
        )
    return found, _folders(order.trained, found["pairs"])


def _folders(trained: Path, wanted: Mapping[str, str]) -> list[Path]:
    """Where the pairs lie that the training had, as long as they are the same."""
    data: Mapping[str, str] = read_manifest(trained, TRAINING)["data"]
    pairs = {name.removeprefix("pairs "): one for name, one in data.items() if name.startswith("pairs ")}
    found = [Path(name) for name, one in pairs.items() if one in wanted.values()]
    for folder in found:
        if not (folder / PAIRS).is_file() or hash_file(folder / PAIRS) not in wanted.values():
            raise BadInput(
                f"{folder}, which {trained} was trained or tested with, is not there or has changed: call this in the "
                "folder where the training was called, with the same pairs"
            )
    return found


def _refuse_blindness(
    develop: Sequence[Bench], tests: Sequence[Bench], learned: set[str], say: Callable[[str], None]
) -> None:
    """See that gains and losses can be seen. Raises BadInput."""
    seen = {one.source for one in develop}
    other = "make their pairs with `quelea train pairs --dev .5 --test .5`, and name the folder with --test-with"
    if not seen & learned:
        raise BadInput(
            f"no pair of {', '.join(sorted(learned))} is to develop on, so no gain can be seen: make the pairs with a "
            "larger --dev, and train anew"
        )
    if not seen - learned:
        raise BadInput(
            f"there is no development split of a source that was not trained on, so no loss is seen: {other}"
        )
    for one in sorted({one.source for one in tests} - seen):
        say(f"{one} has no development split: it does not count in the choice; to let it, {other}")
