"""The gate of the encoder that found the passages: chosen answer by answer, read again, refused where there is none."""

import json

import httpx2
import pytest
from quelea_evaluation.stack.running import USUAL
from quelea_gateway.gateway import build_gate
from quelea_gateway.settings import Settings
from quelea_gateway.testing import standing
from quelea_kit.errors import Conflict

QUESTION = {"question": "What were Apple's net sales in the third quarter of 2023?", "route": "local"}


def gate(path, encoder, threshold):
    path.write_text(json.dumps({"encoder": encoder, "fitted": "here", "threshold": threshold}))
    return str(path)


async def test_each_answer_is_judged_by_the_gate_of_its_encoder(tmp_path):
    files = {
        "gate_file": gate(tmp_path / "old.json", "old@1", 0.25),
        "next_gate_file": gate(tmp_path / "new.json", "new@1", 0.75),
    }
    async with standing(**files) as stand, httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as web:
        for encoder, threshold in (("old@1", 0.25), ("new@1", 0.75), ("old@1", 0.25)):
            stand.world.encoder = encoder
            answer = await web.post("/v1/ask", json=QUESTION)
            assert answer.status_code == 200, answer.text
            assert answer.json()["gate"]["threshold"] == threshold


async def test_without_a_gate_for_the_encoder_it_is_not_ready_and_says_what_to_do(tmp_path):
    file = gate(tmp_path / "gate.json", "old@1", 0.25)
    async with (
        standing(gate_file=file) as stand,
        httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as web,
    ):
        assert (await web.get("/readyz")).status_code == 200  # nothing stored says of no encoder yet
        stand.world.encoder = "new@1"
        stand.gateway._ready = None
        ready = await web.get("/readyz")
        assert ready.status_code == 503
        said = ready.json()["dependencies"]["retriever"]["reason"]
        assert "indexed with new@1" in said
        assert "fitted for old@1" in said
        assert "quelea models activate" in said
        asked = await web.post("/v1/ask", json=QUESTION)
        assert asked.status_code == 409
        assert "quelea train gate" in asked.json()["error"]["message"]


async def test_a_gate_for_another_encoder_may_be_accepted(tmp_path):
    file = gate(tmp_path / "gate.json", "old@1", 0.25)
    async with (
        standing(gate_file=file, gate_any_encoder=True) as stand,
        httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as web,
    ):
        stand.world.encoder = "new@1"
        assert (await web.get("/readyz")).status_code == 200
        assert (await web.post("/v1/ask", json=QUESTION)).json()["gate"]["threshold"] == 0.25


def test_the_stack_of_an_evaluation_takes_the_gate_of_any_encoder(monkeypatch):
    for name, value in USUAL.items():
        monkeypatch.setenv(name, value)
    assert Settings().gate_any_encoder


def test_the_packaged_gate_is_for_every_build_of_the_bundled_encoder():
    packaged = build_gate(Settings())
    assert packaged.of("multilingual-e5-small@899a7a1fead6") is packaged.of("")
    with pytest.raises(Conflict, match="QUELEA_GATEWAY_GATE_ANY_ENCODER"):
        packaged.of("bge-m3@1")
    # c that was given by hand is nobody's
    assert build_gate(Settings(gate="cosine", gate_cosine=0.5)).of("bge-m3@1").cosine == 0.5


def test_the_gate_of_a_set_is_used_while_it_is_there_and_a_named_file_wins(tmp_path):
    packaged = build_gate(Settings(model_set=str(tmp_path))).of("")._threshold
    gate(tmp_path / "gate.json", "multilingual-e5-small", 0.125)
    assert build_gate(Settings(model_set=str(tmp_path))).of("")._threshold == 0.125 != packaged
    named = gate(tmp_path / "other.json", "multilingual-e5-small", 0.5)
    assert build_gate(Settings(model_set=str(tmp_path), gate_file=named)).of("")._threshold == 0.5
