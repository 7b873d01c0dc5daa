"""What llama.cpp is started with, and where its model comes from."""

import hashlib
import importlib.util
import struct
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from quelea_generator.llama_engine import LlamaSettings

PATH = Path(__file__).parents[3] / "services/generator/engine/fetch_gguf.py"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    file = tmp_path / "tiny-q4.gguf"
    file.write_bytes(head("qwen2", 28, 1536))
    return file


def head(architecture: str, layers: int, width: int) -> bytes:
    """The beginning of a GGUF file: no tensors, and these values behind a list."""

    def text(said: str) -> bytes:
        return struct.pack("<Q", len(said)) + said.encode()

    values = [
        text("general.tags") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("b"),
        text("general.architecture") + struct.pack("<I", 8) + text(architecture),
        text(f"{architecture}.block_count") + struct.pack("<II", 4, layers),
        text(f"{architecture}.embedding_length") + struct.pack("<II", 4, width),
    ]
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(values)) + b"".join(values)


def test_the_settings_are_the_launchers(model: Path) -> None:
    plain = LlamaSettings.of({"QUELEA_ENGINE_MODEL": str(model)})
    assert (plain.name, plain.host, plain.port, plain.at_once, plain.api_key) == ("tiny-q4", "127.0.0.1", 8000, 1, "")
    assert plain.threads >= 1
    told = {"NAME": "mine", "PORT": "9", "MAX_MODEL_LEN": "100", "MAX_NUM_SEQS": "3", "THREADS": "5", "API_KEY": "k"}
    named = LlamaSettings.of({"QUELEA_ENGINE_MODEL": str(model), **{f"QUELEA_ENGINE_{n}": v for n, v in told.items()}})
    assert (named.name, named.port, named.context, named.at_once, named.threads) == ("mine", 9, 100, 3, 5)


@pytest.mark.parametrize("wrong", ["0", "-1", "many", "1.5"])
def test_a_wrong_setting_is_named(model: Path, wrong: str) -> None:
    with pytest.raises(ValueError, match="QUELEA_ENGINE_THREADS must be a whole number"):
        LlamaSettings.of({"QUELEA_ENGINE_MODEL": str(model), "QUELEA_ENGINE_THREADS": wrong})


def test_what_is_no_model_is_said_before_llama_cpp_reads_it(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="QUELEA_ENGINE_MODEL must be"):
        LlamaSettings.of({})
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        LlamaSettings.of({"QUELEA_ENGINE_MODEL": str(tmp_path / "none.gguf")})
    (tmp_path / "other").write_bytes(b"PK\x03\x04")
    with pytest.raises(ValueError, match="not a GGUF file"):
        LlamaSettings.of({"QUELEA_ENGINE_MODEL": str(tmp_path / "other")})


def test_an_adapter_is_a_file_of_llama_cpp_too(model: Path, tmp_path: Path) -> None:
    with_one = {"QUELEA_ENGINE_MODEL": str(model), "QUELEA_ENGINE_ADAPTER": str(model)}
    assert LlamaSettings.of(with_one).adapter == model
    assert LlamaSettings.of({"QUELEA_ENGINE_MODEL": str(model)}).adapter is None
    with pytest.raises(ValueError, match=r"QUELEA_ENGINE_ADAPTER: .* cannot be read"):
        LlamaSettings.of({**with_one, "QUELEA_ENGINE_ADAPTER": str(tmp_path / "none.gguf")})


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (head("llama", 28, 1536), "architecture llama, the model qwen2"),
        (head("qwen2", 24, 896), "block_count 24, the model 28; embedding_length 896, the model 1536"),
        (head("qwen2", 28, 1536)[:50], r"QUELEA_ENGINE_ADAPTER: the head of .*adapter.gguf cannot be read; copy"),
    ],
)
def test_an_adapter_of_another_model_is_refused_with_what_to_do(
    model: Path, tmp_path: Path, other: bytes, said: str
) -> None:
    adapter = tmp_path / "adapter.gguf"
    adapter.write_bytes(other)
    with pytest.raises(ValueError, match=said):
        LlamaSettings.of({"QUELEA_ENGINE_MODEL": str(model), "QUELEA_ENGINE_ADAPTER": str(adapter)})


def test_a_torn_model_is_not_called_the_adapter(model: Path, tmp_path: Path) -> None:
    torn = tmp_path / "torn.gguf"
    torn.write_bytes(model.read_bytes()[:50])
    with pytest.raises(ValueError, match=r"QUELEA_ENGINE_MODEL: the head of .*torn.gguf cannot be read; copy"):
        LlamaSettings.of({"QUELEA_ENGINE_MODEL": str(torn), "QUELEA_ENGINE_ADAPTER": str(model)})


@pytest.fixture
def fetcher(monkeypatch: pytest.MonkeyPatch) -> Any:
    spec = importlib.util.spec_from_file_location("fetch_gguf", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "fetch_gguf", module)  # dataclasses look there
    spec.loader.exec_module(module)
    return module


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[str]:
    """A hub with one model of the bytes b"weights"."""
    place = tmp_path / "hub/some/model/resolve/main"
    place.mkdir(parents=True)
    (place / "m.gguf").write_bytes(b"weights")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "hub")))
    thread = Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def wanted(fetcher: Any, data: bytes) -> Any:
    return fetcher.Model("some/model", "m.gguf", hashlib.sha256(data).hexdigest(), "quelea-no-such-part", "0", 1)


def test_a_model_comes_from_the_hub_once(fetcher: Any, hub: str, tmp_path: Path) -> None:
    model = wanted(fetcher, b"weights")
    file = fetcher.fetch(model, tmp_path / "models", hub)
    assert file.read_bytes() == b"weights"
    assert "Apache License" in file.with_suffix(".LICENSE").read_text()
    assert fetcher.fetch(model, tmp_path / "models", "http://127.0.0.1:1") == file  # nobody is asked again


def test_another_file_than_the_one_asked_for_is_not_kept(
    fetcher: Any, hub: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def packages(_model: object, _folder: Path) -> Iterator[bytes]:
        yield b"forged too"

    monkeypatch.setattr(fetcher, "read_packages", packages)
    with pytest.raises(RuntimeError, match="could not be fetched"):
        fetcher.fetch(wanted(fetcher, b"others"), tmp_path / "models", hub)
    assert list((tmp_path / "models").iterdir()) == []


def test_packages_stand_in_for_a_hub_that_is_away(
    fetcher: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def packages(_model: object, _folder: Path) -> Iterator[bytes]:
        yield from (b"wei", b"ghts")

    monkeypatch.setattr(fetcher, "read_packages", packages)
    file = fetcher.fetch(wanted(fetcher, b"weights"), tmp_path / "models", "http://127.0.0.1:1")
    assert file.read_bytes() == b"weights"
