"""The default encoder on the CPU: its precision, its batches, its id, what it leaves alone, and life without torch."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from quelea_embedder import __main__ as embedder
from quelea_embedder.__main__ import load, load_cross_encoder
from quelea_embedder.adapters.openvino_encoder import OpenVinoEncoder
from quelea_embedder.adapters.openvino_runtime import openvino
from quelea_embedder.bench import texts
from quelea_embedder.core.model import Encoder, Kind
from quelea_embedder.settings import EmbedderSettings
from quelea_embedder.unpack import unpack

MODEL = Path(__file__).parents[3] / ".cache" / "models" / "multilingual-e5-small"
HAS_BF16 = "BF16" in openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
needs_bf16 = pytest.mark.skipif(not HAS_BF16, reason="this processor has no bf16")

_PROSE = texts(60, 11)
PASSAGES = [next(_PROSE)[: 40 * i] for i in range(1, 13)] + [
    "苹果公司2023年第三季度的净销售额为818亿美元,较上年同期下降1%。",
    "The ﬁnancial eﬃciency of the oﬃce was suﬃcient. ＡＢＣ Ｃｏｒｐ．２０２３～",
]


@pytest.fixture(scope="module")
def folder() -> Path:
    unpack(MODEL)
    return MODEL


def make(folder: Path, **settings: Any) -> Encoder:
    encoder = load(EmbedderSettings(model=str(folder), device="cpu", **settings))
    encoder.start_thread()
    return encoder


def test_it_is_the_default_and_its_precision_is_what_the_processor_has(folder: Path) -> None:
    encoder = load(EmbedderSettings(model=str(folder)))
    assert isinstance(encoder, OpenVinoEncoder)
    assert encoder.precision == ("bf16" if HAS_BF16 else "fp32")
    assert encoder.info.device == "cpu"


@needs_bf16
def test_bf16_finds_what_torch_finds_also_over_vectors_of_torch(folder: Path) -> None:
    ours, torch = make(folder, precision="bf16"), make(folder, runtime="torch")
    passages, stored = (one.encode(PASSAGES, Kind.PASSAGE) for one in (ours, torch))
    assert np.sum(passages * stored, axis=1).min() > 0.9999
    queries = ours.encode(PASSAGES, Kind.QUERY)
    wanted = torch.encode(PASSAGES, Kind.QUERY) @ stored.T
    np.testing.assert_allclose(queries @ stored.T, wanted, atol=0.003)
    np.testing.assert_allclose(queries @ passages.T, wanted, atol=0.003)


@needs_bf16
def test_bf16_depends_on_the_batch_by_no_more_than_its_rounding(folder: Path) -> None:
    encoder = make(folder, precision="bf16")
    alone = np.concatenate([encoder.encode([text], Kind.PASSAGE) for text in PASSAGES])
    assert np.sum(alone * encoder.encode(PASSAGES, Kind.PASSAGE), axis=1).min() > 0.9999


def test_the_id_keeps_runtimes_and_precisions_apart(folder: Path, tmp_path: Path) -> None:
    settings = [{"precision": "fp32"}, {"runtime": "torch"}] + ([{"precision": "bf16"}] if HAS_BF16 else [])
    ids = [make(folder, **one).info.model for one in settings]
    assert len(set(ids)) == len(ids)
    assert all(one.startswith("multilingual-e5-small@") for one in ids)
    again = tmp_path / folder.name
    unpack(again)
    assert make(again, precision="fp32").info.model == ids[0], "another machine that unpacks has the same model"


def test_threads_at_the_same_time_get_what_each_gets_alone(folder: Path) -> None:
    encoder = make(folder, precision="fp32", workers=2)
    alone = [encoder.encode([text], Kind.PASSAGE) for text in PASSAGES]
    with ThreadPoolExecutor(4, initializer=encoder.start_thread) as pool:
        together = list(pool.map(lambda text: encoder.encode([text], Kind.PASSAGE), PASSAGES * 3))
    for found, wanted in zip(together, alone * 3, strict=True):
        np.testing.assert_allclose(found, wanted, atol=2e-6)


def test_it_loads_neither_torch_nor_telemetry_and_writes_nothing_at_home(folder: Path, tmp_path: Path) -> None:
    """A process of its own, with a home of its own and no way to open a connection."""
    code = (
        "import json, socket, sys\n"
        "def refuse(*_): raise AssertionError('a connection')\n"
        "socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse\n"
        "from quelea_embedder.__main__ import load\n"
        "from quelea_embedder.core.model import Kind\n"
        "from quelea_embedder.settings import EmbedderSettings\n"
        "encoder = load(EmbedderSettings(model=sys.argv[1]))\n"
        "encoder.encode(['net sales'], Kind.QUERY)\n"
        "print(json.dumps([name for name, module in sys.modules.items() if module]))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        env={**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    loaded = {name.partition(".")[0] for name in json.loads(run.stdout)}
    assert "openvino" in loaded
    assert not loaded & {"openvino_telemetry", "torch", "transformers", "sentence_transformers"}
    assert list(tmp_path.iterdir()) == []


def test_without_torch_what_needs_it_says_how_to_get_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedder, "find_spec", lambda name: None if "torch" in name else importlib.util.find_spec(name))
    assert isinstance(make(folder), OpenVinoEncoder)
    plain = tmp_path / "plain"
    plain.mkdir()
    for settings in (
        EmbedderSettings(model=str(folder), runtime="torch"),
        EmbedderSettings(model=str(folder), device="cuda"),
        EmbedderSettings(model=str(plain)),
        EmbedderSettings(model="somebody/some-model"),
    ):
        with pytest.raises(ImportError, match=r"needs torch; install it with `make torch`"):
            load(settings)
    with pytest.raises(ImportError, match="the cross-encoder needs torch"):
        load_cross_encoder(EmbedderSettings(cross_encoder=str(plain)))


@pytest.mark.parametrize(
    ("file", "content", "why"),
    [
        ("1_Pooling/config.json", {"pooling_mode_max_tokens": True}, "pools by max"),
        ("1_Pooling/config.json", {"pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": True}, "pools by"),
        ("modules.json", [{"type": "x.Transformer", "path": ""}, {"type": "x.Dense", "path": "1"}], "Dense"),
        ("sentence_bert_config.json", {"max_seq_length": 512, "do_lower_case": True}, "lowers"),
    ],
)
def test_a_model_with_other_steps_is_left_to_torch(
    folder: Path, tmp_path: Path, file: str, content: Any, why: str
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    for path in folder.iterdir():
        if path.name != Path(file).parts[0]:
            (mine / path.name).symlink_to(path)
    (mine / file).parent.mkdir(exist_ok=True)
    (mine / file).write_text(json.dumps(content))
    with pytest.raises(ValueError, match=why):
        load(EmbedderSettings(model=str(mine), runtime="openvino"))


def test_it_pools_by_the_first_token_where_the_model_says_so(folder: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    for path in folder.iterdir():
        if path.name != "1_Pooling":
            (mine / path.name).symlink_to(path)
    (mine / "1_Pooling").mkdir()
    settings = {"word_embedding_dimension": 384, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    (mine / "1_Pooling" / "config.json").write_text(json.dumps(settings))
    ours, torch = make(mine, precision="fp32"), make(mine, runtime="torch")
    found, wanted = (one.encode(PASSAGES, Kind.PASSAGE) for one in (ours, torch))
    np.testing.assert_allclose(found, wanted, atol=2e-6)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"device": "cuda:0"}, "runtime openvino is for device cpu"),
        ({"model": "somebody/some-model", "device": "cpu"}, "has no openvino/openvino_model.xml"),
    ],
)
def test_what_openvino_cannot_do_is_said(folder: Path, settings: dict[str, str], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        load(EmbedderSettings(**{"model": str(folder), "runtime": "openvino", **settings}))


@pytest.mark.skipif(HAS_BF16, reason="this processor has bf16")
def test_a_processor_without_bf16_refuses_it(folder: Path) -> None:
    with pytest.raises(ValueError, match="no bf16"):
        make(folder, precision="bf16")
