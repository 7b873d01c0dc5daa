"""`quelea market`, and the model whose decisions are recorded."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest
from quelea_cli.errors import EXIT_USAGE, CliError
from quelea_cli.recorded_model import RecordedModel, read_recorded, serving

if TYPE_CHECKING:
    from .conftest import FakeGateway

Run = Callable[..., tuple[int, str, str]]
BUNDLES = "/v1/agent/bundles"
SAMPLES = Path(__file__).parents[3] / "samples"


def test_a_bundle_is_imported_listed_and_exported(gateway: FakeGateway, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.bundle"
    file.write_bytes(b"data")
    gateway.answer(BUNDLES, (201, {"id": "b1", "calls": 3}))
    assert run("market", "import", file) == (0, "b1: 3 calls\n", "")
    one = {
        "id": "b1",
        "calls": 3,
        "bytes": 2_000_000,
        "run_id": "r",
        "first_fetched": "",
        "last_fetched": "2024-11-22T",
    }
    gateway.answer(BUNDLES, (200, {"bundles": [one], "next_page_token": None}))
    assert run("market", "list")[1] == "b1  3 calls  2.0 MB  2024-11-22  of run r\n"
    gateway.answer("/v1/agent/runs/r/bundle", (200, {"some": "bytes"}))
    assert run("market", "export", "r", tmp_path / "out.bundle")[0] == 0
    assert json.loads((tmp_path / "out.bundle").read_bytes()) == {"some": "bytes"}
    assert run("market", "import", tmp_path / "none")[0] == EXIT_USAGE


def test_decisions_are_said_in_their_order_and_then_used_up() -> None:
    recorded = read_recorded(SAMPLES / "agent/nvidia_two_weeks.json")
    with serving(RecordedModel(recorded)) as model, httpx2.Client(trust_env=False, timeout=30) as web:
        said = []
        for _ in range(2):
            reply = web.post(f"{model.url}/chat/completions", json={"stream": True, "messages": []})
            lines = [line.removeprefix("data: ") for line in reply.text.splitlines() if line.startswith("data: {")]
            deltas = [json.loads(line)["choices"][0]["delta"] for line in lines]
            said.append("".join(delta.get("content", "") for delta in deltas))
        assert said == [one["output"] for one in recorded["decisions"][:2]]
        for _ in recorded["decisions"][2:]:
            web.post(f"{model.url}/chat/completions", json={"stream": True, "messages": []})
        reply = web.post(f"{model.url}/chat/completions", json={"stream": True, "messages": []})
        assert (reply.status_code, "used up" in reply.text) == (400, True)
    with pytest.raises(CliError, match="recorded decisions"):
        read_recorded(SAMPLES / "agent")
