"""A language model on this machine's own processors: llama.cpp's server, which speaks OpenAI's protocol, from a wheel.

`python -m quelea_generator.llama_engine` serves until it is ended. Environment variables, named as vLLM's launcher
(services/generator/engine) names them:

    QUELEA_ENGINE_MODEL          file of the model, GGUF (required)
    QUELEA_ENGINE_ADAPTER        file of a LoRA adapter for it, GGUF (none); all answers are then written with it
    QUELEA_ENGINE_NAME           name under which it is served (default: that of the file)
    QUELEA_ENGINE_HOST, _PORT    where it listens (127.0.0.1, 8000)
    QUELEA_ENGINE_MAX_MODEL_LEN  context of one answer in tokens (8192)
    QUELEA_ENGINE_MAX_NUM_SEQS   answers written at once (1)
    QUELEA_ENGINE_THREADS        processor cores that it computes on (those this process may use)
    QUELEA_ENGINE_API_KEY        bearer token that callers must send; empty asks for none
"""

from __future__ import annotations

import os
import signal
import struct
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

PREFIX = "QUELEA_ENGINE_"
# Of GGUF, version 3: kinds of values, and the form of those that are numbers.
_STRING, _ARRAY = 8, 9
_SCALARS = dict(enumerate(("<B", "<b", "<H", "<h", "<I", "<i", "<f", "<?"))) | {10: "<Q", 11: "<q", 12: "<d"}
_SHAPE = (".block_count", ".embedding_length")
_MOST_KEYS, _LONGEST = 1000, 1 << 20


@dataclass(frozen=True)
class LlamaSettings:
    """What the server is started with; the module's docstring says what each is."""

    model: Path
    adapter: Path | None
    name: str
    host: str
    port: int
    context: int
    at_once: int
    threads: int
    api_key: str

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> LlamaSettings:
        """Read them. Raises ValueError, which names the variable that is missing or wrong."""
        model = environment.get(f"{PREFIX}MODEL", "")
        if not model:
            raise ValueError(f"{PREFIX}MODEL must be the model's file (GGUF)")
        file = _gguf("MODEL", model)
        named = environment.get(f"{PREFIX}ADAPTER", "")
        adapter = _gguf("ADAPTER", named) if named else None
        if adapter:
            _check_adapter(adapter, file)
        return cls(
            model=file,
            adapter=adapter,
            name=environment.get(f"{PREFIX}NAME", "") or file.stem,
            host=environment.get(f"{PREFIX}HOST", "") or "127.0.0.1",
            port=_number(environment, "PORT", 8000),
            context=_number(environment, "MAX_MODEL_LEN", 8192),
            at_once=_number(environment, "MAX_NUM_SEQS", 1),
            threads=_number(environment, "THREADS", len(os.sched_getaffinity(0))),
            api_key=environment.get(f"{PREFIX}API_KEY", ""),
        )


def start(settings: LlamaSettings) -> Any:
    """The server, once the model is loaded; it ends with the object. Until then /health answers 503."""
    import xllamacpp  # noqa: PLC0415  # an extra: whoever only reads the settings needs none

    wanted = xllamacpp.CommonParams()
    wanted.model.path = str(settings.model)
    wanted.model_alias = {settings.name}
    if settings.adapter:
        adapter = xllamacpp.CommonAdapterLoraInfo()
        adapter.path, adapter.scale = str(settings.adapter), 1.0
        wanted.lora_adapters = [adapter]
    wanted.hostnames = [settings.host]
    wanted.port = settings.port
    wanted.n_ctx = settings.context * settings.at_once
    wanted.n_parallel = settings.at_once
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = settings.threads
    wanted.api_keys = [settings.api_key] if settings.api_key else []
    wanted.offline = True
    wanted.ui = wanted.endpoint_slots = wanted.endpoint_props = False
    wanted.endpoint_metrics = True
    return xllamacpp.Server(wanted)


def _gguf(name: str, path: str) -> Path:
    file = Path(path)
    try:
        with file.open("rb") as opened:
            first = opened.read(4)
    except OSError as error:
        raise ValueError(f"{PREFIX}{name}: {path} cannot be read: {error.strerror}") from error
    if first != b"GGUF":
        raise ValueError(f"{PREFIX}{name}: {path} is not a GGUF file, and llama.cpp reads no other")
    return file


def _check_adapter(adapter: Path, model: Path) -> None:
    """See that an adapter is for a model of this shape: llama.cpp itself would only say that it cannot load it.

    What the adapter does not say is not compared. Raises ValueError.
    """
    its, wanted = _shape("ADAPTER", adapter), _shape("MODEL", model)
    wrong = [
        f"{name.rpartition('.')[2]} {its[name]}, the model {wanted[name]}"
        for name in its
        if wanted.get(name, its[name]) != its[name]
    ]
    if wrong:
        raise ValueError(
            f"{PREFIX}ADAPTER: {adapter} was trained for another model than {model} (it has {'; '.join(wrong)}); name "
            f"its own base as {PREFIX}MODEL, or leave {PREFIX}ADAPTER out"
        )


def _shape(name: str, file: Path) -> dict[str, str]:
    """Architecture, layers and width, as the head of a GGUF file says them. Raises ValueError where it is torn."""
    found: dict[str, str] = {}
    try:
        with file.open("rb") as opened:
            opened.seek(4 + 4 + 8)
            (count,) = struct.unpack("<Q", opened.read(8))
            for _ in range(min(count, _MOST_KEYS)):
                key, value = _read_string(opened), _read_value(opened)
                if key == "general.architecture" or key.endswith(_SHAPE):
                    found[key] = value
                if key.startswith("tokenizer."):  # what is looked for stands before it, and it is long
                    break
    except (OSError, struct.error, KeyError, ValueError) as error:
        raise ValueError(f"{PREFIX}{name}: the head of {file} cannot be read; copy or download it again") from error
    return found


def _read_string(file: BinaryIO) -> str:
    (length,) = struct.unpack("<Q", file.read(8))
    if length > _LONGEST:
        raise ValueError(length)
    return file.read(length).decode()


def _read_value(file: BinaryIO, kind: int | None = None) -> str:
    """A value as text; of an array nothing."""
    if kind is None:
        (kind,) = struct.unpack("<I", file.read(4))
    if kind == _STRING:
        return _read_string(file)
    if kind == _ARRAY:
        of, length = struct.unpack("<IQ", file.read(12))
        for _ in range(length):
            _read_value(file, of)
        return ""
    form = _SCALARS[kind]
    return str(struct.unpack(form, file.read(struct.calcsize(form)))[0])


def _number(environment: Mapping[str, str], name: str, otherwise: int) -> int:
    text = environment.get(PREFIX + name, "") or str(otherwise)
    if not text.isdigit() or not int(text):
        raise ValueError(f"{PREFIX}{name} must be a whole number above 0, got {text!r}")
    return int(text)


def main() -> None:
    """Serve until a signal."""
    try:
        settings = LlamaSettings.of(os.environ)
    except ValueError as error:
        sys.exit(str(error))
    server = start(settings)
    sys.stdout.write(f"{settings.name} at {server.listening_address}\n")
    signal.pause()


if __name__ == "__main__":
    main()
