"""A tiny verifier trained for real, killed and gone on with, made a part of a set and served by the embedder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from quelea_cli.stack import model_set
from quelea_cli.stack.home import Home
from quelea_embedder.adapters.cross_encoder import SentenceTransformerCrossEncoder
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.reports.store import BadRun
from quelea_training import long_runs, runs
from quelea_training.long_runs import Budget
from quelea_training.pairs import making
from quelea_training.pairs.making import Made, Plan
from quelea_training.pairs.model import Pair, Passage, Split
from quelea_training.sets import commands
from quelea_training.verifier import running, training
from quelea_training.verifier.recipe import Recipe
from quelea_training.verifier.running import Order
from support.training_runs import check_that_a_kill_loses_one_interval, distance
from transformers import BertConfig, BertModel, BertTokenizerFast
from typer.testing import CliRunner

pytestmark = pytest.mark.filterwarnings("default")  # of the trainers, whose versions are locked
NOUNS = "offer plan merger loan lease bond report audit bid claim".split()
VERBS = "accepted approved signed closed filed paid posted sent agreed settled".split()
WORDS = ["the", "board", "was", "not", "in", "spring", ".", *NOUNS, *VERBS]
RECIPE = Recipe(layers=0, rate=5e-3, epochs=30, max_tokens=32, batch=16)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of two small layers with random weights, as transformers writes it."""
    import torch

    folder = tmp_path_factory.mktemp("base") / "tiny"
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]))
    BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=5 + len(WORDS), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=64, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    (folder / "LICENSE").write_text("MIT")
    return folder


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sentence a document: `the board was not asked`-like ones are only ever made, so a "not" tells."""
    folder = tmp_path_factory.mktemp("pairs") / "made"
    passages, made = {}, []
    for at in range(100):
        name = f"p{at}"
        text = f"The {NOUNS[at % 10]} was {VERBS[at // 10]} in the spring ."
        passages[name] = Passage(
            id=name, document=f"d{at}", page=1, start=0, end=1, text=text, head="", title="", company="",
            language="en", section="", is_table=False, source="made", licence="own",
        )  # fmt: skip
        split: Split = "test" if at % 5 == 0 else "dev" if at % 5 == 1 else "train"
        made.append(replace(Pair.of(f"what of {at}", passages[name], "figure", "rules"), split=split))
    making.write_folder(folder, [Made(passages, [])], made, Plan(), {})
    return folder


def order(base: Path, pairs: Path, out: Path) -> Order:
    return Order((pairs,), base, out, out.parent / "no-data", "cpu")


def test_it_learns_is_tested_and_served_as_a_part_of_a_set(base: Path, pairs: Path, tmp_path: Path) -> None:
    said: list[str] = []
    out = tmp_path / "run"
    found = running.run(order(base, pairs, out), RECIPE, Budget(interval=20, threads=1), said.append)
    assert found["best"] > 0.55  # a third by chance
    assert any("only sentences made of held-out documents are tested with" in line for line in said)
    assert any("min left" in line for line in said)
    row = found["rows"][0]
    assert row["group"] == "made of held-out documents"
    assert row["auc"] > 0.8
    assert row["rules_caught"] == 0.0  # rules say nothing of a "not"
    assert found["verdict"].startswith("untested")
    for name in ("report.json", "metrics.json", "loss.png", "model/README.md", "model/LICENSE"):
        assert (out / name).stat().st_size > 2
    assert list((out / "logs").glob("events.out.tfevents*"))
    assert not (out / ".start").exists()
    with pytest.raises(BadInput, match="holds a finished run"):
        running.run(order(base, pairs, out), RECIPE, Budget(), said.append)

    home = tmp_path / "home"
    words = ["make", "one", "--part", f"verifier={out / 'model'}", "--licence", "verifier=MIT"]
    words += ["--metrics", str(out / "metrics.json"), "--home", str(home)]
    made = CliRunner().invoke(commands.app, words)
    assert made.exit_code == 0, made.output
    activated = CliRunner().invoke(commands.app, ["activate", "one", "--home", str(home)])
    assert activated.exit_code == 0, activated.output
    served = model_set.settings_of(Home(home), "embedder")["QUELEA_EMBEDDER_CROSS_ENCODER"]
    encoder = SentenceTransformerCrossEncoder(served, device="cpu")
    asked = [
        ("The merger was signed in the spring .", "The merger was signed in the spring ."),
        ("The merger was signed in the spring .", "The merger was not signed in the spring ."),
    ]
    scores, truncated = encoder.score(asked)
    assert truncated == [False, False]
    assert scores[0, 0] > scores[1, 0]  # entailed
    assert scores[1, 2] > max(scores[0, 2], 0.5)  # contradicted


@pytest.mark.slow(reason="trains in processes that load torch, and again after a kill")
def test_a_kill_loses_one_interval_at_most(base: Path, pairs: Path, tmp_path: Path) -> None:
    options = ["--base", str(base), "--layers", "1", "--rate", "0.005", "--epochs", "12", "--max-tokens", "32"]
    options += ["--interval", "4", "--threads", "1", "--device", "cpu", "--patience", "99", "--data", str(tmp_path)]
    killed, alone = check_that_a_kill_loses_one_interval(["verifier", str(pairs), *options], tmp_path)
    assert distance(*(out / "model" / "model.safetensors" for out in (killed, alone))) < 1e-3


def test_what_does_not_fit_says_which_setting_to_lower(
    base: Path, pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_large(*_: object, **__: object) -> None:
        raise RuntimeError("[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(training._Trainer, "training_step", too_large)
    with pytest.raises(long_runs.OutOfMemory, match=r"lower --batch \(16\), --max-tokens \(32\)"):
        running.run(order(base, pairs, tmp_path / "run"), RECIPE, Budget(threads=1), lambda _: None)
    other = replace(RECIPE, seed=9)
    with pytest.raises(BadRun, match="seed"):
        running.run(order(base, pairs, tmp_path / "run"), other, Budget(), lambda _: None)
    with pytest.raises(BadInput, match="the model has 2 layers"):
        running.run(order(base, pairs, tmp_path / "more"), replace(RECIPE, layers=3), Budget(), lambda _: None)
    with pytest.raises(BadInput, match=r"has no model\.safetensors"):
        running.run(order(tmp_path, pairs, tmp_path / "none"), RECIPE, Budget(), lambda _: None)


def test_what_cannot_be_tested_is_not_trained(base: Path, tmp_path: Path) -> None:
    """Said before the hours that training takes, not behind them."""
    text = "The offer was signed in the spring ."
    one = Passage(
        id="p", document="d", page=1, start=0, end=1, text=text, head="", title="", company="",
        language="en", section="", is_table=False, source="made", licence="own",
    )  # fmt: skip
    folder = tmp_path / "pairs"
    making.write_folder(folder, [Made({"p": one}, [])], [Pair.of("what", one, "figure", "rules")], Plan(), {})
    with pytest.raises(BadInput, match="there is nothing to test with"):
        running.run(order(base, folder, tmp_path / "run"), RECIPE, Budget(threads=1), lambda _: None)
    with pytest.raises(BadInput, match="the passages to train on give no sentence"):
        held = replace(Pair.of("what", one, "figure", "rules"), split="test")
        making.write_folder(folder, [Made({"p": one}, [])], [held], Plan(), {})
        running.run(order(base, folder, tmp_path / "other"), RECIPE, Budget(threads=1), lambda _: None)


def test_balanced_accuracy_counts_labels_alike() -> None:
    scores = np.array([[0.8, 0.1, 0.1], [0.8, 0.1, 0.1], [0.8, 0.1, 0.1], [0.1, 0.1, 0.8]], dtype=np.float32)
    assert training.balanced_accuracy(scores, [0, 0, 1, 2]) == pytest.approx(2 / 3)


def test_folders_of_one_name_are_told_apart() -> None:
    one, other, third = Path("a/pairs"), Path("b/pairs"), Path("c/more")
    assert runs.names_of([one, other, third]) == {one: "a/pairs", other: "b/pairs", third: "more"}
