"""Follow-ups in a real container: variables, files and sources of the run before are there, and so is its taint."""

import json
from pathlib import Path

import httpx2
from quelea.sandbox.v1 import sandbox_pb2
from quelea_kit.client import unary
from support.agent_runs import start, until

DECISIONS = json.loads((Path(__file__).parent / "nvidia_followed.json").read_text(encoding="utf-8"))


async def test_a_follow_up_has_what_the_run_before_left_in_its_container(whole):
    async with (
        whole("nvidia_followed.json") as parts,
        httpx2.AsyncClient(base_url=parts.url, trust_env=False, timeout=180) as web,
    ):

        async def ran(question, **more):
            run = await until(web, (await start(web, question, **more))["id"], "finished", "failed")
            assert run["state"] == "finished", run["error"]
            return run

        first = await ran(DECISIONS["question"], as_of=DECISIONS["as_of"], bundle_ids=[parts.bundle_id])
        assert first["answer"]["grounded"], first["answer"]
        assert (await _capacity(parts)).sessions == 1, "its container waits"
        second = await ran("The same as a log chart, and at the multiple.", follows=first["id"])
        answer = second["answer"]
        assert second["bundle_ids"] == [parts.bundle_id]
        assert second["calls"] == [], "nothing is fetched again"
        assert [(one["name"], one["traced"]) for one in answer["results"]] == [
            ("log change of the close", True), ("close at the multiple", False),
        ]  # fmt: skip
        verdicts = {one["text"]: one["verdict"] for one in answer["figures"]}
        assert verdicts["-5.48%"] == "supported"
        assert verdicts["$93.98"] == "supported"
        assert verdicts["$2,979.17"] == "not_traced", "what was typed in the run before stays typed"
        assert any("Made-up data" in one for one in answer["notices"])
        used = [one for one in answer["sources"] if one["used"]]
        assert {(one["kind"], one["run"]) for one in used} >= {("execution", ""), ("call", first["id"])}
        assert [one["media_type"] for one in second["artifacts"]] == ["image/png"]
        third = await ran("And once more from the table.", follows=first["id"])  # whose session went on with the second
        executions = [one for one in third["answer"]["sources"] if one["kind"] == "execution"]
        assert ["nvda.csv" in one["title"] for one in executions if one["run"] == first["id"]] == [True]
        outputs = [one for one in executions if not one["run"]]
        assert "False" in outputs[0]["excerpt"], "no variable of another run is there"
        assert "nvda.csv" in outputs[0]["excerpt"]
        assert third["answer"]["results"][0]["traced"]
        assert any("nvda.csv" in one for one in third["answer"]["notices"])


async def _capacity(parts):
    return await unary(parts.sandbox.stub.GetCapacity(sandbox_pb2.GetCapacityRequest(), timeout=60))
