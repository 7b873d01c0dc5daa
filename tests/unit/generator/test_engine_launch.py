"""What the engine is started with."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

PATH = Path(__file__).parents[3] / "services/generator/engine/launch.py"


@pytest.fixture(scope="module")
def launch() -> Any:
    spec = importlib.util.spec_from_file_location("engine_launch", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _value(arguments: list[str], name: str) -> str:
    return arguments[arguments.index(name) + 1]


def test_a_gpu_engine(launch: Any) -> None:
    made = launch.command(
        {
            "QUELEA_ENGINE_MODEL": "/models/qwen",
            "QUELEA_ENGINE_TENSOR_PARALLEL": "2",
            "QUELEA_ENGINE_ARGUMENTS": "--x 'a b'",
        }
    )
    assert _value(made, "--served-model-name") == "qwen"
    assert _value(made, "--tensor-parallel-size") == "2"
    assert "--enforce-eager" not in made
    assert "--enable-lora" not in made
    assert "--enable-auto-tool-choice" not in made
    assert "--max-model-len" not in made
    assert "--max-num-batched-tokens" not in made
    assert made[-2:] == ["--x", "a b"]


def test_an_engine_that_reads_function_calls(launch: Any) -> None:
    made = launch.command({"QUELEA_ENGINE_MODEL": "/models/qwen", "QUELEA_ENGINE_TOOL_PARSER": "hermes"})
    assert "--enable-auto-tool-choice" in made
    assert _value(made, "--tool-call-parser") == "hermes"


def test_a_cpu_engine_with_adapters(launch: Any) -> None:
    made = launch.command(
        {
            "QUELEA_ENGINE_MODEL": "/models/small/",
            "QUELEA_ENGINE_DEVICE": "cpu",
            "QUELEA_ENGINE_NAME": "tiny",
            "QUELEA_ENGINE_ADAPTERS": "finance=/a, news=/b",
        }
    )
    assert _value(made, "--served-model-name") == "tiny"
    assert _value(made, "--max-model-len") == "2048"
    assert int(_value(made, "--max-num-batched-tokens")) < 2048  # a prompt is read in pieces, others write in between
    assert made[made.index("--lora-modules") + 1 :] == ["finance=/a", "news=/b"]
    assert _value(made, "--dtype") in ("bfloat16", "float32")


def test_a_type_that_is_named_is_taken(launch: Any) -> None:
    named = {"QUELEA_ENGINE_MODEL": "m", "QUELEA_ENGINE_DEVICE": "cpu", "QUELEA_ENGINE_DTYPE": "float16"}
    assert _value(launch.command(named), "--dtype") == "float16"


@pytest.mark.parametrize(
    ("flags", "dtype"),
    [("avx512f avx512_bf16 avx512_vnni", "bfloat16"), ("asimd i8mm bf16", "bfloat16"), ("avx2 avx512f", "float32")],
)
def test_a_cpu_computes_bfloat16_only_where_it_has_instructions_for_it(
    launch: Any, tmp_path: Path, flags: str, dtype: str
) -> None:
    (tmp_path / "cpuinfo").write_text(f"processor\t: 0\nflags\t\t: fpu {flags}\n")
    assert launch.cpu_dtype(tmp_path / "cpuinfo") == dtype
    assert launch.cpu_dtype(tmp_path / "none") == "float32"


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({}, "QUELEA_ENGINE_MODEL"),
        ({"QUELEA_ENGINE_MODEL": "m", "QUELEA_ENGINE_DEVICE": "tpu"}, "QUELEA_ENGINE_DEVICE"),
        ({"QUELEA_ENGINE_MODEL": "m", "QUELEA_ENGINE_PORT": "http"}, "QUELEA_ENGINE_PORT"),
        ({"QUELEA_ENGINE_MODEL": "m", "QUELEA_ENGINE_ADAPTERS": "finance"}, "QUELEA_ENGINE_ADAPTERS"),
    ],
)
def test_a_wrong_variable_is_named(launch: Any, environment: dict[str, str], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        launch.command(environment)


def test_the_key_is_no_argument_and_nothing_is_reported(launch: Any, tmp_path: Path) -> None:
    environment = {
        "QUELEA_ENGINE_MODEL": str(tmp_path),
        "QUELEA_ENGINE_API_KEY": "secret",
        "QUELEA_ENGINE_DEVICE": "cpu",
    }
    made = launch.engine_environment(environment)
    assert made["VLLM_API_KEY"] == "secret"
    assert "secret" not in " ".join(launch.command(environment))
    assert (made["VLLM_NO_USAGE_STATS"], made["HF_HUB_OFFLINE"]) == ("1", "1")
    assert "HF_HUB_OFFLINE" not in launch.engine_environment({"QUELEA_ENGINE_MODEL": "org/model"})
