"""An encoder that is trained in seconds, and pairs that only training finds."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from quelea_embedder.model_files import write_settings
from quelea_training.pairs import making
from quelea_training.pairs.making import Made, Plan
from quelea_training.pairs.model import Pair, Passage, Split
from safetensors.torch import save_file
from tokenizers import Tokenizer, pre_tokenizers, processors
from tokenizers.models import WordLevel
from transformers import BertConfig, BertModel

WORDS = [f"word{at}" for at in range(60)]


def write_tiny_encoder(folder: Path) -> Path:
    """A BERT of two small layers with random weights, laid out as the default encoder is."""
    folder.mkdir()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    vocabulary = {word: at for at, word in enumerate([*special, "query", "passage", ":", *WORDS])}
    sizes: dict[str, Any] = {
        "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32,
        "vocab_size": len(vocabulary), "max_position_embeddings": 64, "type_vocab_size": 1, "layer_norm_eps": 1e-12,
    }  # fmt: skip
    write_settings(folder, sizes)
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer.add_special_tokens(special)
    tokenizer.save(str(folder / "tokenizer.json"))
    torch.manual_seed(1)
    model = BertModel(BertConfig(**sizes, pad_token_id=1), add_pooling_layer=False)
    save_file(model.state_dict(), folder / "model.safetensors", metadata={"format": "pt"})
    settings = json.loads((folder / "sentence_bert_config.json").read_text())
    (folder / "sentence_bert_config.json").write_text(json.dumps(settings | {"max_seq_length": 32}))
    return folder


def write_word_pairs(folder: Path) -> Path:
    """Queries that share no word with their passage, so that only training finds it: word n asks for word 30 + n."""
    passages, made = {}, []
    for copy in range(4):
        for at in range(30):
            name = f"p{copy}-{at}"
            passages[name] = Passage(
                id=name, document=f"d{copy}-{at}", page=1, start=0, end=1, text=f"word{30 + at} " * (copy + 1), head="",
                title="", company="", language="zh" if at % 2 else "en", section="", is_table=False, source="made",
                licence="own",
            )  # fmt: skip
            split: Split = "test" if copy == 3 else "dev" if copy == 2 else "train"
            one = Pair.of(f"word{at} " * (copy + 1), passages[name], "figure", "rules")
            made.append(replace(one, split=split))
    making.write_folder(folder, [Made(passages, [])], made, Plan(), {})
    return folder
