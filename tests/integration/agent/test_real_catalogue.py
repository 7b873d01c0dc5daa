"""Four questions on the whole: the catalogue of a thousand tools, the real encoder and retriever, containers, the door.

The model's decisions are recorded, as different models write them: JSON in fences, thoughts, tool calls, ReAct lines,
full-width punctuation, notebook magics, names with `ak.`; what they find, fetch and compute is real, on made-up data.
"""

from __future__ import annotations

import io
import json

import grpc
import httpx2
import pytest
from PIL import Image
from quelea.retriever.v1 import retriever_pb2_grpc
from quelea_retriever.testing import upsert_request
from support.scripted_model import decisions_file

pytestmark = pytest.mark.slow(reason="code of a run imports akshare or edgartools in a fresh container")

REVENUE = "Revenue for fiscal year 2024 was $60,922 million, up from $26,974 million in fiscal year 2023."


@pytest.fixture
def answered(whole, real_catalogue):
    """answered("nvidia_two_weeks.json"): (the run, its events, its files by name)."""

    async def ask(decisions):
        told = json.loads(decisions_file(decisions).read_text(encoding="utf-8"))
        addresses = {name: real_catalogue[name] for name in ("retriever", "tools")}
        async with (
            whole(decisions, **addresses) as parts,
            httpx2.AsyncClient(base_url=parts.url, trust_env=False, timeout=300) as web,
        ):
            asked = {"question": told["question"], "as_of": told["as_of"], "bundle_ids": [parts.bundle_id]}
            run = (await web.post("/v1/agent/runs", json=asked)).json()
            events = _events((await web.get(f"/v1/agent/runs/{run['id']}/events")).text)
            run = (await web.get(f"/v1/agent/runs/{run['id']}")).json()
            files = {one["name"]: (await web.get(one["url"])).content for one in run["artifacts"]}
            report = (await web.get(f"/v1/agent/runs/{run['id']}/report.pdf")).content
            return run, events, files | {"report.pdf": report}

    return ask


def _events(text):
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line)
        if "data" in fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found


def _good(run, events):
    """What holds of each of them: it ended well, and every figure of its text is traced."""
    answer = run["answer"]
    assert run["state"] == "finished", run["error"]
    assert answer["complete"], answer
    assert answer["grounded"]
    assert answer["withheld"] == []
    assert all(one["verdict"] in ("supported", "derived") for one in answer["figures"])
    assert run["usage"]["repairs"] == run["usage"]["fallbacks"] == 0, events
    used = {one["kind"] for one in answer["sources"] if one["used"]}
    for one in answer["sources"]:
        if one["kind"] == "call" and one["used"]:
            (call,) = [call for call in run["calls"] if call["id"] == one["call_id"]]
            assert call["sha256"] == one["sha256"]
    return used


def _steps(events):
    return [data["action"] for name, data in events if name == "step"]


async def test_nvidias_prices_are_found_fetched_and_drawn(answered):
    run, events, files = await answered("nvidia_two_weeks.json")
    assert _steps(events) == ["api-select", "code-exec", "finish"]
    assert _good(run, events) >= {"execution", "call"}
    assert any("finance.sina.com.cn" in one["url"] for one in run["answer"]["sources"] if one["used"])
    assert Image.open(io.BytesIO(files["step2-nvda_trend.png"])).size == (880, 495)


async def test_a_chinese_question_on_cninfo_and_eastmoney(answered):
    run, events, files = await answered("ping_an_profile.json")
    assert _steps(events) == ["api-select", "api-select", "code-exec", "finish"]
    assert _good(run, events) >= {"execution", "call"}
    hosts = [one["url"] for one in run["answer"]["sources"] if one["used"] and one["kind"] == "call"]
    assert any("cninfo.com.cn" in url for url in hosts)
    assert any("eastmoney.com" in url for url in hosts)
    assert any(name.endswith("figure-1.png") for name in files)  # plt.show()
    assert files["report.pdf"].startswith(b"%PDF")


async def test_a_macro_series_of_jin10(answered):
    run, events, files = await answered("us_unemployment.json")
    assert _steps(events) == ["api-select", "code-exec", "finish"]
    assert _good(run, events) >= {"execution", "call"}
    assert all("jin10.com" in one["url"] for one in run["calls"])
    assert "4.1" not in run["answer"]["text"]  # of the first conclusion, which had an invented figure
    assert files["step2-unemployment.csv"]
    (output,) = [data for name, data in events if name == "output" and "stdout" in data]
    assert len(output["stdout"]) < 21_000


async def test_a_filing_and_a_computation(answered, real_catalogue):
    said = {"company": "NVIDIA", "ticker": "NVDA", "language": "en", "document_type": "10-K", "published": "2024-02-21"}
    async with grpc.aio.insecure_channel(real_catalogue["retriever"]) as channel:
        stub = retriever_pb2_grpc.RetrieverServiceStub(channel)
        await stub.Upsert(upsert_request("NVIDIA 10-K 2024", [REVENUE], **said), timeout=120, wait_for_ready=True)
    run, events, _ = await answered("filings_growth.json")
    assert _steps(events) == ["kb-search", "code-exec", "finish"]
    assert _good(run, events) == {"execution", "passage"}
    (passage,) = [one for one in run["answer"]["sources"] if one["kind"] == "passage" and one["used"]]
    assert passage["open"].startswith("/v1/documents/")
    (result,) = run["answer"]["results"]
    assert (result["value"], result["traced"], result["inputs"]) == ("125.9", True, [f"passage {passage['number']}"])
    assert run["usage"]["model_calls"] == 5
