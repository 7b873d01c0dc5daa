"""A tiny encoder trained for real: by each objective and way, killed and gone on with, served by the embedder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch
from quelea_embedder.adapters.openvino_encoder import OpenVinoEncoder
from quelea_embedder.core.model import Kind
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.reports.store import BadRun
from quelea_training import long_runs
from quelea_training.encoder import blending, report, running, training
from quelea_training.encoder.measures import unit
from quelea_training.encoder.objective import weaverbird
from quelea_training.encoder.recipe import Recipe
from quelea_training.encoder.running import Order
from quelea_training.encoder.towers import Towers
from quelea_training.long_runs import Budget
from quelea_training.pairs import making
from quelea_training.pairs.making import Made, Plan
from quelea_training.pairs.model import Pair, Passage, read_pairs
from safetensors.torch import load_file
from sentence_transformers import SentenceTransformer
from support.tiny_encoder import write_tiny_encoder, write_word_pairs
from support.training_runs import check_that_a_kill_loses_one_interval, distance, train

pytestmark = pytest.mark.filterwarnings("default")  # of the trainers, whose versions are locked


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_encoder(tmp_path_factory.mktemp("base") / "tiny")


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_word_pairs(tmp_path_factory.mktemp("pairs") / "made")


def test_an_anchor_that_is_taken_again_is_encoded_once() -> None:
    encoded: list[str] = []

    class Counting:
        def encode(self, texts: list[str], kind: str) -> np.ndarray:
            encoded.extend(texts)
            return np.array([[len(text), 0.0, 1.0] for text in texts], dtype=np.float32)

    found = training._vectors(cast("Towers", Counting()), ["a", "long", "a"], "query")
    assert encoded == ["a", "long"]
    assert np.array_equal(found[0], found[2])
    assert not np.array_equal(found[0], found[1])
    assert np.linalg.norm(found, axis=1) == pytest.approx(1)


def order(base: Path, pairs: Path, out: Path, **given: Any) -> Order:
    return Order((pairs,), (), base, out, "cpu", dev_passages=given.pop("dev_passages", 30))


def measure(found: dict[str, Any], when: str, level: str = "passage") -> float:
    rows = [r for r in found["scores"] if r["when"] == when and r["similarity"] == "cosine" and r["level"] == level]
    assert {row["language"] for row in rows} == {"en", "zh"}
    return float(np.mean([row["map"] for row in rows]))


@pytest.mark.parametrize(
    ("recipe", "gain"),
    [
        (Recipe(tune="full", rate=5e-3, epochs=12, max_tokens=16), 0.1),
        (Recipe(tune="lora", rate=2e-2, epochs=3, max_tokens=16, chunk=8), -1),
        (Recipe(tune="last:1", rate=1e-2, epochs=3, max_tokens=16, objective="weaverbird", towers=2), -1),
    ],
    ids=["full", "lora in chunks", "weaverbird, two towers"],
)
def test_training_moves_the_model_helps_on_what_is_held_out_and_the_embedder_serves_it(
    base: Path, pairs: Path, tmp_path: Path, recipe: Recipe, gain: float
) -> None:
    """Of a random model with frozen words little can be made: there only that it moves is asked."""
    said: list[str] = []
    found = running.run(order(base, pairs, tmp_path / "run"), recipe, Budget(interval=10, threads=1), said.append)
    assert measure(found, "after") > measure(found, "before") + gain
    assert any("development" in line for line in said)
    assert any("min left" in line for line in said)
    out = tmp_path / "run"
    for name in ("report.json", "report.png", "loss.png"):
        assert (out / name).stat().st_size > 500
    assert list((out / "logs").glob("events.out.tfevents*"))
    assert "Held out" in (out / found["models"][0] / "README.md").read_text()
    query, passage = (str(out / name) for name in (found["models"] * 2)[:2])
    served = OpenVinoEncoder(query, passage, precision="fp32")
    assert served.info.two_towers == (recipe.towers == 2)
    vectors = served.encode(["word3 word3"], Kind.QUERY)
    passages = served.encode([f"word{30 + at}" for at in range(30)], Kind.PASSAGE)
    old = np.asarray(SentenceTransformer(str(base), device="cpu").encode(["query: word3 word3"]))
    assert (vectors @ old.T).item() < 0.9999  # it moved
    assert (vectors @ passages.T).shape == (1, 30)
    with pytest.raises(BadInput, match="holds a finished run"):
        running.run(order(base, pairs, out), recipe, Budget(), said.append)


@pytest.mark.slow(reason="trains in processes that load torch, and again after a kill")
def test_a_kill_loses_one_interval_at_most(base: Path, pairs: Path, tmp_path: Path) -> None:
    killed, alone = check_that_a_kill_loses_one_interval(command(base, pairs), tmp_path)
    assert distance(*(out / "model" / "model.safetensors" for out in (killed, alone))) < 1e-3


@pytest.mark.slow(reason="two processes that load torch")
def test_two_processes_train_one_model(base: Path, pairs: Path, tmp_path: Path) -> None:
    done = train(command(base, pairs), tmp_path / "run", processes=2)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("pairs to train on") == 1  # one speaks
    assert "step 8 of 8" in done.stderr, done.stderr  # 8 rounds of 3 batches without repeats, two processes
    assert (tmp_path / "run" / "model" / "model.safetensors").is_file()
    assert not list((tmp_path / "run").rglob("*.part"))


def test_a_model_is_not_spread_over_processes(
    base: Path, pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    with pytest.raises(BadInput, match="only `quelea train sft` spreads a model"):
        running.run(order(base, pairs, tmp_path / "run"), Recipe(), Budget(), print)


def command(base: Path, pairs: Path) -> list[str]:
    options = ["--base", str(base), "--tune", "full", "--rate", "0.005", "--epochs", "8", "--max-tokens", "16"]
    options += ["--interval", "4", "--threads", "1", "--device", "cpu", "--dev-passages", "10", "--patience", "99"]
    return ["encoder", str(pairs), *options]


def test_time_patience_and_memory_end_a_training(
    base: Path, pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = Recipe(tune="full", rate=1e-12, epochs=500, max_tokens=16)
    patient = Budget(minutes=0.05, patience=1_000_000, threads=1)
    endless = Recipe(tune="full", rate=1e-12, epochs=1_000_000, max_tokens=16)
    slow = running.run(order(base, pairs, tmp_path / "slow"), endless, patient, lambda _: None)
    assert slow["why"] == "the time of 0.05 minutes is over"
    stuck = running.run(
        order(base, pairs, tmp_path / "stuck"), recipe, Budget(interval=2, patience=2, threads=1), lambda _: None
    )
    assert stuck["why"] == "the development split has been no better 2 times"
    assert stuck["steps"] == 6

    def too_large(*_: object, **__: object) -> None:
        raise RuntimeError("[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(training._Trainer, "training_step", too_large)
    with pytest.raises(long_runs.OutOfMemory, match=r"lower --batch \(16\), set --chunk 4, or lower"):
        running.run(order(base, pairs, tmp_path / "large"), recipe, Budget(threads=1), lambda _: None)


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of another source, never trained on: word n asks for itself, which a random model finds and training forgets."""
    folder = tmp_path_factory.mktemp("watched") / "other"
    passages, made = {}, []
    for at in range(40):
        passages[f"o{at}"] = Passage(
            id=f"o{at}", document=f"o{at}", page=1, start=0, end=1, text=f"word{at} word{at + 5}", head="", title="",
            company="", language="en", section="", is_table=False, source="other", licence="own",
        )  # fmt: skip
        one = Pair.of(f"word{at} word{at + 5}", passages[f"o{at}"], "figure", "people")
        made.append(replace(one, split="dev" if at % 2 else "test"))
    making.write_folder(folder, [Made(passages, [])], made, Plan(), {})
    return folder


def test_weights_are_averaged_by_a_share_that_is_chosen_on_development_splits(
    base: Path, pairs: Path, watched: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained, out, said = tmp_path / "run", tmp_path / "blend", list[str]()
    recipe = Recipe(tune="full", rate=5e-3, epochs=12, max_tokens=16, anchor=0.01)
    anchored = replace(order(base, pairs, trained), anchors=(pairs,))  # the same folder as the pairs
    running.run(anchored, recipe, Budget(interval=10, threads=1), lambda _: None)
    given = blending.Order(trained, (watched,), base, out, "cpu")
    usual = report.measure

    def die_at_the_third(towers: Towers, benches: Any, when: str, say: Any) -> Any:
        if when == "at share 1":
            raise KeyboardInterrupt
        return usual(towers, benches, when, say)

    monkeypatch.setattr(report, "measure", die_at_the_third)
    rule = blending.Rule((0.5,), allowed=100.0)
    with pytest.raises(KeyboardInterrupt):
        blending.run(given, rule, said.append)
    monkeypatch.setattr(report, "measure", usual)
    assert any(line.startswith("measured at share 0.5") for line in said)
    said.clear()
    found = blending.run(given, rule, said.append)
    looks = {one["share"]: one for one in found["looks"]}
    assert list(looks) == [0.0, 0.5, 1.0]
    assert looks[0.0]["gain"] == looks[0.0]["loss"] == 0.0
    assert looks[1.0]["gain"] > 5
    assert not any(line.startswith("measured at share 0.5: other, 20 queries on 40") for line in said[:2])  # kept
    assert found["share"] == max(looks.values(), key=lambda one: one["gain"])["share"]
    assert "What is held out, which no choice looked at" in (out / "model" / "README.md").read_text()
    begin, end, between = (load_file(one / "model.safetensors") for one in (base, trained / "model", out / "model"))
    for name, value in between.items():
        assert torch.allclose(value, torch.lerp(begin[name], end[name], found["share"]), atol=1e-6)
    with pytest.raises(BadInput, match="holds a finished run"):
        blending.run(given, rule, said.append)
    for wrong, match in (
        (replace(given, tested=()), "no development split of a source that was not trained on"),
        (replace(given, base=out / "model"), "is not the model that .* began with"),
    ):
        with pytest.raises(BadInput, match=match):
            blending.run(replace(wrong, out=tmp_path / "other"), rule, said.append)
    with pytest.raises(BadRun, match="wanted was 'encoder-training'"):
        blending.run(replace(given, trained=out, out=tmp_path / "other"), rule, said.append)


def test_a_folder_goes_on_only_with_the_same_pairs(base: Path, pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    recipe = Recipe(tune="full", rate=1e-3, epochs=1, max_tokens=16)
    running.run(order(base, pairs, out), recipe, Budget(threads=1), lambda _: None)
    with pytest.raises(BadRun, match="seed"):
        running.run(
            order(base, pairs, out), Recipe(tune="full", rate=1e-3, epochs=1, max_tokens=16, seed=9), Budget(), print
        )
    for other in (replace(order(base, pairs, out), test_passages=5), replace(order(base, pairs, out), tested=(pairs,))):
        with pytest.raises(BadRun, match="test"):  # before and after would be measured by two measures
            running.run(other, recipe, Budget(threads=1), print)
    with pytest.raises(BadInput, match=r"no sentence-transformers model|has no model\.safetensors"):
        running.run(Order((pairs,), (), tmp_path, tmp_path / "other"), recipe, Budget(), print)


def test_the_rate_rises_and_falls_by_time_as_by_steps() -> None:
    assert long_runs.rate_at(0.0, 0.1) == pytest.approx(0.05)
    assert long_runs.rate_at(0.05, 0.1) == pytest.approx(0.5 * 0.95)
    assert long_runs.rate_at(0.1, 0.1) == pytest.approx(0.9)
    assert long_runs.rate_at(1.0, 0.1) == long_runs.rate_at(1.2, 0.1) == 0.0
    assert long_runs.rate_at(0.0, 0.0) == 1.0


def test_weaverbirds_objective_by_hand() -> None:
    query = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    passages = torch.tensor([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.5], [3.0, 1.0]]])
    first = -(1 - np.log(np.exp(1) + np.exp(0)))
    second = -(1 - np.log(np.exp(1) + np.exp(2)))
    assert float(weaverbird(query, passages)) == pytest.approx((first + second) / 2)


def test_what_does_not_move_is_remembered_and_an_anchor_holds_what_was_not_trained_on(
    base: Path, pairs: Path, watched: Path, tmp_path: Path
) -> None:
    anchor = tmp_path / "anchor"
    kept = read_pairs(watched)
    others = {name: one for name, one in kept.passages.items() if int(name[1:]) % 4 == 0}
    made = [replace(one, split="train") for one in kept.pairs if one.passage in others]
    making.write_folder(anchor, [Made(others, [])], cast("list[Pair]", made), Plan(), {})
    recipe = Recipe(tune="last:1", rate=2e-2, epochs=6, max_tokens=16)
    moved = {}
    for name, weight, remember in (("free", 0.0, 0), ("remembered", 0.0, 8), ("anchored", 50.0, 8)):
        given = replace(
            order(base, pairs, tmp_path / name), remember=remember, anchors=(anchor,) if weight else (), dev_passages=10
        )
        found = running.run(given, replace(recipe, anchor=weight), Budget(interval=20, threads=1), lambda _: None)
        after = Towers(tmp_path / name / found["models"][0], Recipe(tune="full"), "cpu")
        before = Towers(base, Recipe(tune="full"), "cpu")
        texts = [one.encoded for one in others.values()]
        near = unit(after.encode(texts, "passage")) * unit(before.encode(texts, "passage"))
        moved[name] = 1 - float(near.sum(1).mean())
    assert moved["anchored"] < 0.5 * moved["remembered"], moved
