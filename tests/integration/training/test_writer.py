"""A tiny language model tuned for real: killed and gone on with, in two processes, its adapter in other hands; and
prompts that the product's own generator writes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import gguf
import pytest
import torch
import yaml
from peft import PeftModel
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.reports.store import BadRun
from quelea_training import long_runs
from quelea_training.long_runs import Budget
from quelea_training.sets.manifest import make, verify
from quelea_training.writer import running, training
from quelea_training.writer.generator import Limits, write_prompts
from quelea_training.writer.model import Sample, Shown, read_samples, write_samples
from quelea_training.writer.recipe import Recipe
from quelea_training.writer.running import Order
from safetensors.torch import load_file
from support.training_runs import (
    ALONE,
    check_that_a_kill_loses_one_interval,
    distance,
    kill_when_it_has_a_checkpoint,
    train,
)
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers.models import BPE
from tokenizers.trainers import BpeTrainer
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

pytestmark = pytest.mark.filterwarnings("default")  # of the trainers, whose versions are locked
ROOT = Path(__file__).parents[3]
WORDS = [f"w{'abcd'[at // 10]}{'abcdefghij'[at % 10]}" for at in range(40)]
TEMPLATE = (
    "{% for m in messages %}<s>{{ m['role'] }}\n{{ m['content'] }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant\n{% endif %}"
)
RECIPE = Recipe(rate=2e-2, epochs=6, max_tokens=32, accumulate=4, batch=2)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Qwen2 of two small layers with random weights."""
    folder = tmp_path_factory.mktemp("base") / "tiny"
    special = ["<pad>", "<s>", "</s>", "<unk>"]
    # Bytes and merges, as Qwen2's class of tokenizers has them; it reads no other kind. Each word is one token.
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = BpeTrainer(
        vocab_size=600, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )  # fmt: skip
    tokenizer.train_from_iterator([f"{one}\n{one} {one}" for one in (*WORDS, "user", "assistant")] * 9, trainer)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", bos_token="<s>", unk_token="<unk>"
    )
    fast.chat_template = TEMPLATE
    torch.manual_seed(1)
    config = Qwen2Config(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64, tie_word_embeddings=True,
        pad_token_id=0, eos_token_id=2, bos_token_id=1, initializer_range=0.3,
    )  # fmt: skip
    Qwen2ForCausalLM(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    (folder / "LICENSE").write_text("Of the base.")
    return folder


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Word n is answered with word 39 - n."""
    folder = tmp_path_factory.mktemp("samples") / "made"
    made = []
    for at in range(40):
        for copy in range(2):
            split: Any = "dev" if at % 8 == 0 else "train"
            said = ({"role": "user", "content": f"{WORDS[at]} " * (copy + 1)},)
            one = Sample(
                id=f"s{at}-{copy}",
                task="open",
                messages=said,
                output=WORDS[39 - at],
                language="en",
                source="made",
                licence="own",
                split=split,
                documents=(),
            )
            made.append(one)

    write_samples(folder, made, {})
    return folder


def order(base: Path, samples: Path, out: Path) -> Order:
    return Order((samples,), (), base, out, "cpu")


def test_an_adapter_is_learned_and_written_for_every_engine(base: Path, samples: Path, tmp_path: Path) -> None:
    said: list[str] = []
    out = tmp_path / "run"
    found = running.run(order(base, samples, out), RECIPE, Budget(interval=5, threads=1, patience=99), said.append)
    assert found["best"] > found["before"]
    assert any("development" in line for line in said)
    assert any("min left" in line for line in said)
    losses = [row["loss"] for row in training_log(out) if "loss" in row]
    assert losses[-1] < losses[0] - 0.5
    for name in ("report.json", "loss.png"):
        assert (out / name).stat().st_size > 500
    assert list((out / "logs").glob("events.out.tfevents*"))
    card = (out / "adapter" / "README.md").read_text()
    assert "A LoRA adapter for tiny" in card
    assert "- own" in card
    tuned = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(base), out / "adapter")
    assert next(iter(tuned.peft_config.values())).r == 16
    read = gguf.GGUFReader(out / "adapter" / "adapter.gguf")
    names = {one.name for one in read.tensors}
    assert {"blk.0.attn_q.weight.lora_a", "blk.1.ffn_down.weight.lora_b"} <= names
    assert len(names) == 2 * 2 * 7
    assert read.fields["adapter.lora.alpha"].contents() == 32
    weights = load_file(out / "adapter" / "adapter_model.safetensors")
    mine = next(one for one in read.tensors if one.name == "blk.0.attn_q.weight.lora_a")
    theirs = weights["base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight"]
    assert torch.equal(torch.from_numpy(mine.data.copy()), theirs.float())
    licences = {"adapter": "Apache-2.0"}
    given = {"adapter": out / "adapter"}
    make(tmp_path / "sets", "one", given, licences=licences, metrics={"tuned/declines": 0.5}, data={})
    assert "adapter" in verify(tmp_path / "sets" / "one").parts
    with pytest.raises(BadInput, match="holds a finished run"):
        running.run(order(base, samples, out), RECIPE, Budget(), said.append)
    with pytest.raises(BadRun, match="rank"):
        running.run(order(base, samples, out), Recipe(**{**RECIPE.as_row(), "rank": 4}), Budget(), said.append)


def training_log(out: Path) -> list[dict[str, Any]]:
    import json  # of this helper alone

    log: list[dict[str, Any]] = json.loads((out / "report.json").read_text())["log"]
    return log


def command(base: Path, samples: Path) -> list[str]:
    options = ["--base", str(base), "--rate", "0.02", "--epochs", "8", "--max-tokens", "32", "--accumulate", "2"]
    options += ["--interval", "4", "--threads", "1", "--device", "cpu", "--patience", "99", "--batch", "1"]
    return ["sft", str(samples), *options]


@pytest.mark.slow(reason="trains in processes that load torch, and again after a kill")
def test_a_kill_loses_one_interval_at_most(base: Path, samples: Path, tmp_path: Path) -> None:
    killed, alone = check_that_a_kill_loses_one_interval(command(base, samples), tmp_path)
    assert distance(*(out / "adapter" / "adapter_model.safetensors" for out in (killed, alone))) < 1e-3


@pytest.mark.slow(reason="two processes that load torch")
def test_two_processes_train_one_adapter(base: Path, samples: Path, tmp_path: Path) -> None:
    done = train([*command(base, samples), "--epochs", "2"], tmp_path / "run", processes=2)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("samples to train on") == 1  # one speaks
    assert "step 36 of 36" in done.stderr, done.stderr  # 70 samples, 2 rounds, 2 of each process in a step
    assert (tmp_path / "run" / "adapter" / "adapter_model.safetensors").is_file()


def test_memory_and_long_samples_are_spoken_of(
    base: Path, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BadInput, match="raise --max-tokens"):
        short = Recipe(**{**RECIPE.as_row(), "max_tokens": 4})
        running.run(order(base, samples, tmp_path / "short"), short, Budget(threads=1), lambda _: None)

    def too_large(*_: object, **__: object) -> None:
        raise RuntimeError("[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(training._Trainer, "training_step", too_large)
    with pytest.raises(long_runs.OutOfMemory, match=r"lower --batch \(2\) and raise --accumulate \(4\)"):
        running.run(order(base, samples, tmp_path / "large"), RECIPE, Budget(threads=1), lambda _: None)


def test_samples_that_are_all_held_out_are_spoken_of(base: Path, samples: Path, tmp_path: Path) -> None:
    held = [replace(one, split="test") for one in read_samples(samples)[0][:3]]
    write_samples(tmp_path / "held", held, {})
    with pytest.raises(BadInput, match="none of 3 samples is to train on"):
        running.run(order(base, tmp_path / "held", tmp_path / "run"), RECIPE, Budget(threads=1), lambda _: None)


def test_without_a_development_split_the_card_has_no_measure(base: Path, samples: Path, tmp_path: Path) -> None:
    mine = [one for one in read_samples(samples)[0] if one.split == "train"][:8]
    write_samples(tmp_path / "mine", mine, {})
    recipe = Recipe(**{**RECIPE.as_row(), "epochs": 1})
    running.run(order(base, tmp_path / "mine", tmp_path / "run"), recipe, Budget(threads=1), lambda _: None)
    card = (tmp_path / "run" / "adapter" / "README.md").read_text()
    assert "No sample was to develop on: the weights are the last ones." in card
    assert "-1.0000" not in card


FSDP_ON_CPUS = """
# accelerate turns FSDP on for GPUs alone; this lets it on CPUs, and changes nothing of what it does then.
import os
if "RANK" in os.environ:
    from accelerate.state import AcceleratorState
    from accelerate.utils import DistributedType
    begin = AcceleratorState.__init__
    def begin_spread(self, *given, fsdp_plugin=None, **named):
        begin(self, *given, fsdp_plugin=fsdp_plugin, **named)
        if fsdp_plugin is not None:
            self.distributed_type, self.fsdp_plugin = DistributedType.FSDP, fsdp_plugin
    AcceleratorState.__init__ = begin_spread
"""


@pytest.mark.slow(reason="three runs of two processes that load torch, one killed")
def test_a_model_spread_over_processes_learns_and_survives_a_kill(base: Path, samples: Path, tmp_path: Path) -> None:
    """FSDP: each process holds a part of the weights. Killed and gone on with, it ends where one left alone ends.

    Whole copies learn as much, but round otherwise: after some steps with dropout their weights are others.
    """
    settings = yaml.safe_load((ROOT / "training" / "accelerate-fsdp.yaml").read_text())["fsdp_config"]
    (tmp_path / "sitecustomize.py").write_text(FSDP_ON_CPUS)
    spread = {**ALONE, "PYTHONPATH": str(tmp_path), "ACCELERATE_USE_FSDP": "true"}
    spread |= {name.upper(): str(value) for name, value in settings.items()}
    words = [*command(base, samples), "--epochs", "2"]
    killed, alone = tmp_path / "killed", tmp_path / "alone"
    checkpoint = kill_when_it_has_a_checkpoint(words, killed, 2, spread)
    assert (checkpoint / "optimizer.bin").is_file()  # of FSDP's own, gathered; else it is optimizer.pt
    for out in (killed, alone):
        done = train(words, out, 2, spread)
        assert done.returncode == 0, done.stderr
        assert (f"going on from {checkpoint.name}" in done.stderr) == (out == killed)
    report = json.loads((alone / "report.json").read_text())
    assert report["best"] > 10 * report["before"]
    assert distance(*(out / "adapter" / "adapter_model.safetensors" for out in (killed, alone))) < 1e-2


def test_the_first_version_of_fsdp_is_refused(
    base: Path, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    with pytest.raises(BadInput, match=r"accelerate-fsdp\.yaml"):
        running.run(order(base, samples, tmp_path / "run"), RECIPE, Budget(), lambda _: None)


def test_the_loss_is_the_answers_alone(base: Path) -> None:
    from quelea_training.writer.base import Writer  # loads a model's classes

    writer = Writer(base, RECIPE, "cpu")
    sample = Sample(
        id="a", task="open", messages=({"role": "user", "content": f"{WORDS[1]} {WORDS[2]}"},), output=WORDS[3],
        language="en", source="s", licence="own", split="train", documents=(),
    )  # fmt: skip
    ids, prompt = training.encode(writer, sample)
    words = writer.tokenizer.convert_ids_to_tokens(ids)
    assert words[prompt:] == [WORDS[3], "</s>"]
    assert words[:prompt] == ["<s>", "user", "Ċ", WORDS[1], f"Ġ{WORDS[2]}", "</s>", "<s>", "assistant", "Ċ"]
    assert 0 < training.likelihood(writer, [(ids, prompt)]) < 0.2


def test_the_generator_writes_the_prompt(tmp_path: Path) -> None:
    shown = (
        Shown("p1", "Net sales\t81,797\t82,959", "Acme · FY2019", "\t2019\t2018", is_table=True),
        Shown("p2", "Something else was said here.", "", "", is_table=False),
    )
    sample = Sample(
        id="a", task="cited", messages=(), output="", language="en", source="s", licence="own", split="train",
        documents=(), question="What were net sales in 2019?", evidence=shown, right=(1,),
    )  # fmt: skip
    limits = Limits(excerpt_tokens=0)
    (messages,), version = write_prompts([sample], limits, tmp_path / "generator.log", "2026-01-01")
    assert [one["role"] for one in messages] == ["system", "user"]
    assert "Write each figure in braces" in messages[0]["content"]
    assert "[1] -: (Acme · FY2019)" in messages[1]["content"]
    assert "81,797" in messages[1]["content"]
    assert "The current date is 2026-01-01" in messages[1]["content"]
    assert messages[1]["content"].endswith("The question is: What were net sales in 2019?")
    assert version.startswith("en-")
