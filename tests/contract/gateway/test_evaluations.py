"""Evaluations over REST: who may start one, what is refused, the queue, lists, items, cancelling, deleting."""

import httpx2
import pytest
from quelea_gateway.keys import create
from quelea_gateway.testing import standing
from support.evaluation_worker import Worker

OMNI = {"kind": "omni", "name": "Monday", "settings": {"questions": "filings", "judges": ["tiny"]}}
ARENA = {"kind": "arena", "settings": {"systems": ["quelea", "tiny"], "judge": "tiny", "user": "tiny"}}


@pytest.fixture
def worker(tmp_path):
    worker = Worker(tmp_path / "evaluations")
    worker.beat()
    return worker


@pytest.fixture
async def web(tmp_path, worker):
    async with (
        standing(evaluations_url=str(tmp_path / "evaluations"), evaluation_queue=3) as stand,
        httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as client,
    ):
        yield client


async def start(web, body=OMNI):
    answer = await web.post("/v1/evaluations", json=body)
    assert answer.status_code == 202, answer.text
    return answer.json()


async def test_it_waits_with_its_settings_and_the_longest_deadline(web):
    options = (await web.get("/v1/evaluations/options")).json()
    assert (options["may_start"], options["worker"], options["models"]) == (True, True, ["tiny"])
    assert options["question_sets"] == {"filings": 20}
    one = await start(web)
    assert (one["state"], one["name"], one["seconds"], one["error"]) == ("queued", "Monday", 86400, None)
    assert one["settings"] == {
        "questions": "filings", "system": "quelea", "route": "local", "passages": "none", "judges": ["tiny"],
    }  # fmt: skip
    assert (await web.get(f"/v1/evaluations/{one['id']}")).json() == {**one, "result": None}
    assert (await start(web, ARENA))["name"] == "arena"


@pytest.mark.parametrize(
    ("body", "field", "said"),
    [
        ({"kind": "omni", "settings": {"questions": "none"}}, "settings.questions", "there are filings"),
        ({"kind": "omni", "settings": {"questions": "filings", "system": "gpt"}}, "settings.system", "quelea, tiny"),
        ({"kind": "omni", "settings": {"questions": "filings", "judges": ["gpt"]}}, "settings.judges", "tiny"),
        ({**ARENA, "settings": {**ARENA["settings"], "bench": "mine"}}, "settings.bench", "there are ucfe"),
        ({**ARENA, "settings": {**ARENA["settings"], "systems": ["tiny", "tiny"]}}, "settings.systems", "twice"),
        ({**OMNI, "settings": {"systems": []}}, "omni.settings.questions", "is missing"),
        ({"kind": "chess", "settings": {}}, "body", "kind"),
        ({**OMNI, "seconds": 90000}, "seconds", "at most 86400"),
    ],
)
async def test_what_cannot_be_done_is_refused_and_named(web, body, field, said):
    answer = await web.post("/v1/evaluations", json=body)
    error = answer.json()["error"]
    assert (answer.status_code, error["details"]["field"]) == (400, field)
    assert said in error["message"]


async def test_without_a_worker_nothing_is_accepted(web, worker):
    worker.beat(age=120)
    answer = await web.post("/v1/evaluations", json=OMNI)
    assert answer.status_code == 503
    assert "quelea eval work" in answer.json()["error"]["message"]
    assert (await web.get("/v1/evaluations/options")).json()["worker"] is False


async def test_the_queue_is_bounded_and_a_cancelled_one_leaves_it(web):
    ids = [(await start(web))["id"] for _ in range(3)]
    full = await web.post("/v1/evaluations", json=OMNI)
    assert (full.status_code, full.headers["Retry-After"]) == (429, "60")
    for _ in range(2):  # it can be repeated
        assert (await web.post(f"/v1/evaluations/{ids[0]}/cancel")).json()["state"] == "cancelled"
    await start(web)
    assert (await web.delete(f"/v1/evaluations/{ids[1]}")).status_code == 409
    assert (await web.delete(f"/v1/evaluations/{ids[0]}")).status_code == 204
    assert (await web.get(f"/v1/evaluations/{ids[0]}")).status_code == 404


async def test_the_list_is_newest_first_in_pages_and_filtered(web, worker):
    ids = [(await start(web, body))["id"] for body in (OMNI, ARENA, OMNI)]
    worker.write(f"{ids[0]}/state.json", {"state": "running", "step": "run", "done": 3, "total": 20})
    first = (await web.get("/v1/evaluations", params={"page_size": 2})).json()
    assert [one["id"] for one in first["evaluations"]] == [ids[2], ids[1]]
    rest = (await web.get("/v1/evaluations", params={"page_token": first["next_page_token"]})).json()
    assert rest["next_page_token"] is None
    assert rest["evaluations"][0]["progress"] == {"step": "run", "done": 3, "total": 20}
    arena = (await web.get("/v1/evaluations?kind=arena&state=queued")).json()["evaluations"]
    assert [one["id"] for one in arena] == [ids[1]]
    assert (await web.post(f"/v1/evaluations/{ids[0]}/cancel")).json()["state"] == "cancelling"


async def test_a_cell_has_its_items_and_an_item_all_that_is_known(web, worker):
    one = (await start(web))["id"]
    lines = [
        {"id": f"q{n}", "topic": "stocks", "task": "contrast" if n % 2 else "extractive", "title": "Net sales?",
         "failed": n == 3, "declined": False, "values": {"f1_token": 0.5, "accuracy": None}}
        for n in range(5)
    ]  # fmt: skip
    more = {
        "dialogues": [{"system": "quelea", "turns": [{"role": "question", "text": "Net sales?"}], "error": "too slow"}],
        "evidence": [],
        "verdicts": [{"judge": "tiny", "about": "accuracy", "verdict": "", "text": "Well …", "failed": True}],
    }
    worker.write(f"{one}/index.json", {"format": 1, "chunk": 2, "items": lines})
    for chunk in range(3):
        worker.write(
            f"{one}/items/{chunk:05}.json", {"items": [{**line, **more} for line in lines[2 * chunk : 2 * chunk + 2]]}
        )
    worker.write(f"{one}/result.json", {"cells": []})
    path = f"/v1/evaluations/{one}"
    assert (await web.get(path)).json()["result"] == {"cells": []}
    page = (await web.get(f"{path}/items?topic=stocks&task=contrast&page_size=1")).json()
    assert (page["total"], page["items"]) == (2, [lines[1]])
    page = (await web.get(f"{path}/items?task=contrast&page_size=1&page_token={page['next_page_token']}")).json()
    assert ([line["id"] for line in page["items"]], page["next_page_token"]) == (["q3"], None)
    assert (await web.get(f"{path}/items?failed=true")).json()["total"] == 1
    assert (await web.get(f"{path}/items/q3")).json() == {**lines[3], **more}
    assert (await web.get(f"{path}/items/q9")).status_code == 404
    worker.write(f"{one}/index.json", {"format": 2, "chunk": 2, "items": lines})
    other = await web.get(f"{path}/items")
    assert (other.status_code, "publish the run again" in other.text) == (503, True)


async def test_labels_of_people_are_checked_and_stand_beside_the_judge(web, worker):
    one = (await start(web))["id"]
    line = {
        "id": "q",
        "topic": "t",
        "task": "extractive",
        "title": "",
        "failed": False,
        "declined": False,
        "values": {},
    }
    said = {"judge": "tiny", "about": "accuracy", "verdict": "2", "text": "", "failed": False}
    item = {
        **line, "evidence": [], "verdicts": [said, {**said, "about": "hallucination", "verdict": "", "failed": True}],
        "dialogues": [{"system": "quelea", "turns": [{"role": "answer", "text": "7"}], "error": None}],
    }  # fmt: skip
    worker.write(f"{one}/index.json", {"format": 1, "chunk": 50, "items": [line]})
    worker.write(f"{one}/items/00000.json", {"items": [item]})
    worker.write(f"{one}/result.json", {"scales": {"accuracy": [0, 1, 2], "hallucination": [0, 1]}})
    path = f"/v1/evaluations/{one}/labels"

    async def give(rater, *labels, item_id="q"):
        body = {"item_id": item_id, "rater": rater, "labels": [{"aspect": a, "label": n} for a, n in labels]}
        return await web.post(path, json=body)

    assert (await give("Ann", ("accuracy", 1), ("hallucination", 0))).status_code == 201
    assert (await give("Ann", ("accuracy", 2), ("hallucination", 1))).status_code == 201  # in the place of the first
    assert (await give("Bo", ("accuracy", 0))).status_code == 201
    found, token = [], ""
    while token is not None:
        page = (await web.get(path, params={"page_size": 1, "page_token": token})).json()
        found += page["labels"]
        token = page["next_page_token"]
    told = sorted((row["rater"], row["aspect"], row["label"], row["judge"]) for row in found)
    assert told == [("Ann", "accuracy", 2, 2), ("Ann", "hallucination", 1, None), ("Bo", "accuracy", 0, 2)]
    for refused, field in (
        (await give("Ann", ("style", 1)), "labels.0.aspect"),
        (await give("Ann", ("accuracy", 3)), "labels.0.label"),
        (await give(" ", ("accuracy", 1)), "rater"),
    ):
        assert (refused.status_code, refused.json()["error"]["details"]["field"]) == (400, field)
    assert (await give("Ann", ("accuracy", 1), item_id="none")).status_code == 404


async def test_people_vote_blind_and_their_agreement_is_told(web, worker):
    one = (await start(web, ARENA))["id"]
    names = ("quelea", "tiny")
    items = [
        {
            "id": f"{n}:quelea:tiny", "topic": "quelea · tiny", "task": "0_x", "title": "", "failed": False,
            "declined": False, "values": {"score": 1.0}, "evidence": [], "verdicts": [],
            "dialogues": [
                {"system": name, "turns": [{"role": "assistant", "text": f"said by number {at}"}],
                 "error": "too slow" if n == 3 and at else None}
                for at, name in enumerate(names)
            ],
        }
        for n in range(4)
    ]  # fmt: skip
    line = ("id", "topic", "task", "title", "failed", "declined", "values")
    lines = [{name: item[name] for name in line} for item in items]
    worker.write(f"{one}/index.json", {"format": 1, "chunk": 50, "items": lines})
    worker.write(f"{one}/items/00000.json", {"items": items})
    path = f"/v1/evaluations/{one}"
    assert (await web.get(f"{path}/agreement")).json()["alpha"] is None

    async def see(number, rater):
        return await web.get(f"{path}/comparisons/{number}", params={"rater": rater})

    async def give(number, rater, choice):
        return await web.post(f"{path}/votes", json={"number": number, "rater": rater, "choice": choice})

    async def prefer(number, rater, said):
        told = (await see(number, rater)).json()
        return (await give(number, rater, "left" if told["left"][0]["text"] == said else "right")).json()

    shown = [await see(number, rater) for number in range(1, 5) for rater in ("Ann", "Bo", "Cy")]
    assert not any(name in answer.text for answer in shown for name in names)
    assert {answer.json()["left"][0]["text"][-1] for answer in shown} == {"0", "1"}  # sides are drawn
    complete = [answer.json()["number"] for answer in shown[::3] if answer.json()["complete"]]
    for number in complete:
        for rater in ("Ann", "Bo"):
            told = await prefer(number, rater, "said by number 0")
            assert told["choice"] in ("left", "right")
    assert (told["voted"], told["total"], len(complete)) == (3, 4, 3)
    await prefer(complete[0], "Bo", "said by number 1")  # in the place of the first
    assert (await give(complete[0], "Cy", "equal")).json()["choice"] == "equal"
    found = (await web.get(f"{path}/agreement")).json()
    assert found["raters"] == {"Ann": 3, "Bo": 3, "Cy": 1}
    assert (found["votes"], found["comparisons"], found["shared"], found["judged"]) == (7, 3, 3, 3)
    assert found["same"] == 2 / 3  # 1, 0 and 0.5 are a tie, which the judge does not see
    assert found["alpha"] == pytest.approx(1 - 6 * (6 / 2) / (49 - 25 - 1 - 1))
    votes = (await web.get(f"{path}/votes")).json()["votes"]
    assert sorted(row["score"] for row in votes if row["rater"] == "Bo") == [0.0, 1.0, 1.0]
    (broken,) = {1, 2, 3, 4} - set(complete)
    assert (await give(broken, "Ann", "left")).json()["error"]["details"]["field"] == "number"
    assert (await give(9, "Ann", "left")).status_code == 404
    assert (await see(1, " ")).status_code == 400
    matrix = (await start(web))["id"]
    assert (await web.get(f"/v1/evaluations/{matrix}/comparisons/1?rater=A")).status_code == 400


async def test_only_operators_start_cancel_and_delete(tmp_path, worker):
    keys = tmp_path / "keys.json"
    desk, reader = create(keys, "desk"), create(keys, "reader")
    store = str(tmp_path / "evaluations")
    async with (
        standing(auth="keys", keys_file=str(keys), operators=("desk",), evaluations_url=store) as stand,
        httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as client,
    ):
        as_desk, as_reader = ({"Authorization": f"Bearer {key}"} for key in (desk, reader))
        refused = await client.post("/v1/evaluations", json=OMNI, headers=as_reader)
        assert (refused.status_code, "QUELEA_GATEWAY_OPERATORS" in refused.text) == (403, True)
        started = await client.post("/v1/evaluations", json=OMNI, headers=as_desk)
        assert started.status_code == 202
        path = f"/v1/evaluations/{started.json()['id']}"
        assert (await client.post(f"{path}/cancel", headers=as_reader)).status_code == 403
        assert (await client.delete(path, headers=as_reader)).status_code == 403
        assert (await client.get(path, headers=as_reader)).status_code == 200
        assert (await client.get(path)).status_code == 401
        assert (await client.get("/v1/evaluations/options", headers=as_reader)).json()["may_start"] is False
