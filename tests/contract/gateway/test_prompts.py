"""Prompts over REST: what is in force, and what administrators put in its place."""

import httpx2
import pytest
from quelea_gateway import keys
from quelea_gateway.adapters.services.fake_generator import PROMPTS
from quelea_gateway.adapters.stores import prompt_store
from quelea_gateway.core.prompts import PromptTemplate
from quelea_gateway.testing import standing
from quelea_kit.errors import Unavailable

ANSWER = PROMPTS[0][3]
TERSE = ANSWER.replace("Answer.", "Answer in one sentence.")
PATH = "/v1/prompts/answer/en"
QUESTION = "What were Apple's net sales in the third quarter of 2023?"


class Source:
    def __init__(self, *found):
        self.found = found

    async def prompts(self):
        if isinstance(self.found[0], Exception):
            raise self.found[0]
        return self.found


def of_the_reader(told):
    own = ("agent-", "structured", "query_plan")  # the gateway's
    return [one for one in told["prompts"] if not one["name"].startswith(own)]


async def save(web, text=TERSE, path=PATH, **more):
    reply = await web.post(f"{path}/versions", json={"text": text, **more})
    assert reply.status_code == 201, reply.text
    return reply.json()


async def version_asked_with(web, question=QUESTION):
    reply = await web.post("/v1/ask", json={"question": question})
    assert reply.status_code == 200, reply.text
    return reply.json()["prompt_version"]


async def test_templates_are_listed_with_their_versions(web):
    told = (await web.get("/v1/prompts")).json()
    assert {one["language"] for one in told["prompts"] if one["name"] == "agent-plan"} == {"en", "zh"}
    assert all(one["version"] and one["text"] and one["built_in"] for one in told["prompts"])
    assert [(one["name"], one["language"], one["version"], one["editable"]) for one in of_the_reader(told)] == [
        ("answer", "en", "en-1.0a", True),
        ("answer", "zh", "zh-1.0b", True),
        ("schema", "en", "en-1.0c", False),
        ("short_answer", "en", "en-1.0d", True),
    ]
    assert told["problems"] == []
    only = (await web.get("/v1/prompts", params={"name": "answer", "language": "zh"})).json()
    assert [one["text"] for one in only["prompts"]] == [PROMPTS[1][3]]
    assert (await web.get("/v1/prompts", params={"name": "other"})).json()["prompts"] == []


async def test_sources_are_merged_and_one_that_is_away_is_named(stand, web):
    plan = PromptTemplate("agent_plan", "en", "en-1.77", "version: en-1.77\n---user---\nPlan.")
    editor = stand.gateway.prompts
    editor.sources = (*editor.sources, Source(plan), Source(Unavailable("It is away.")))
    told = (await web.get("/v1/prompts")).json()
    assert [one["name"] for one in of_the_reader(told)] == ["agent_plan", "answer", "answer", "schema", "short_answer"]
    assert told["problems"] == ["It is away."]
    await stand.services.stop("generator")
    told = (await web.get("/v1/prompts")).json()
    assert [one["name"] for one in of_the_reader(told)] == ["agent_plan"]
    assert len(told["problems"]) == 2
    assert (await web.get(f"{PATH}/versions")).status_code == 503, "nobody can say whether there is one"


async def test_an_edit_is_in_force_from_its_activation_until_it_is_rolled_back(stand, web):
    saved = await save(web, note="shorter", based_on="built-in")
    assert saved["version"].startswith("en-edit-1.")
    assert saved["text"].startswith("version: en-edit-1\n---system---\nAnswer in one sentence.")
    assert (saved["author"], saved["note"], saved["based_on"], saved["active"]) == (
        "local",
        "shorter",
        "en-1.0a",
        False,
    )
    assert await version_asked_with(web) == "1", "saved is not in force"

    now = (await web.post(f"{PATH}/activate", json={"version": saved["version"]})).json()
    assert (now["version"], now["built_in"]) == (saved["version"], False)
    assert await version_asked_with(web) == saved["version"], "the generator was asked with it"
    assert await version_asked_with(web, "苹果公司2023年第三季度的净销售额是多少？") == "1", (
        "the other language is as it was"
    )
    listed = (await web.get("/v1/prompts", params={"name": "answer", "language": "en"})).json()["prompts"]
    assert [(one["version"], one["text"]) for one in listed] == [(saved["version"], saved["text"])]

    second = await save(web, TERSE.replace("one sentence", "two sentences"), based_on=saved["version"])
    assert second["version"].startswith("en-edit-2.")
    await web.post(f"{PATH}/activate", json={"version": second["version"]})
    assert (await web.post(f"{PATH}/roll-back")).json()["version"] == saved["version"]
    assert await version_asked_with(web) == saved["version"]
    assert (await web.post(f"{PATH}/roll-back")).json()["version"] == "en-1.0a"
    assert await version_asked_with(web) == "1"
    refused = await web.post(f"{PATH}/roll-back")
    assert refused.status_code == 409
    assert "nothing was before" in refused.json()["error"]["message"]


async def test_versions_are_listed_newest_first_and_the_built_in_one_is_last(web):
    first = await save(web)
    second = await save(web, TERSE.replace("one", "two"))
    await web.post(f"{PATH}/activate", json={"version": first["version"]})
    found, token = [], ""
    while token is not None:
        page = (await web.get(f"{PATH}/versions", params={"page_size": 2, "page_token": token})).json()
        found += page["versions"]
        token = page["next_page_token"]
    assert [(one["version"], one["active"], one["built_in"]) for one in found] == [
        (second["version"], False, False),
        (first["version"], True, False),
        ("en-1.0a", False, True),
    ]
    assert found[-1]["created"] is None


async def test_two_versions_are_compared_line_by_line(web):
    saved = await save(web)
    told = (await web.get(f"{PATH}/diff", params={"after": saved["version"]})).json()
    assert (told["before"], told["after"]) == ("en-1.0a", saved["version"])
    assert [(one["kind"], one["text"]) for one in told["lines"]] == [
        ("removed", "version: en-1"),
        ("added", "version: en-edit-1"),
        ("same", "---system---"),
        ("removed", "Answer."),
        ("added", "Answer in one sentence."),
        ("same", "---user---"),
        ("same", "$context $question"),
    ]
    unknown = await web.get(f"{PATH}/diff", params={"after": "en-edit-9.00000000"})
    assert unknown.status_code == 404


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (ANSWER.replace("$context ", ""), "The part ---user--- lacks $context."),
        (ANSWER.replace("Answer.", "Answer $nobody."), "The part ---system--- has $nobody; known there: none."),
        (ANSWER.replace("Answer.", "Costs $ 5."), "write $$ for a dollar sign"),
        (ANSWER.replace("---system---\nAnswer.\n", ""), "The part ---system--- is missing."),
        (ANSWER + "---more---\nMore.\n", "There is no part ---more---."),
        (ANSWER + "---user---\n$context $question\n", "It has a part twice."),
        (ANSWER.replace("Answer.", ""), "The part ---system--- is empty."),
        (ANSWER.replace("Answer.", "Answer.\x00"), "not printable"),
        ("Answer the question.", "There is text before the first part"),
    ],
)
async def test_a_text_that_cannot_be_filled_in_is_refused_with_the_reason(web, text, why):
    reply = await web.post(f"{PATH}/versions", json={"text": text})
    assert reply.status_code == 400
    assert why in reply.json()["error"]["message"]
    assert reply.json()["error"]["details"]["field"] == "text"


async def test_what_is_too_long_known_already_or_not_editable_is_refused(web):
    long = await web.post(f"{PATH}/versions", json={"text": ANSWER.replace("Answer.", "x" * 12_001)})
    assert long.status_code == 413
    same = await web.post(f"{PATH}/versions", json={"text": ANSWER})
    assert same.status_code == 409
    assert "en-1.0a" in same.json()["error"]["message"]
    await save(web)
    assert (await web.post(f"{PATH}/versions", json={"text": TERSE})).status_code == 409
    fixed = await web.post("/v1/prompts/schema/en/versions", json={"text": PROMPTS[2][3]})
    assert fixed.status_code == 409
    assert (await web.post("/v1/prompts/nothing/en/versions", json={"text": TERSE})).status_code == 404
    assert (await web.post("/v1/prompts/answer/fr/versions", json={"text": TERSE})).status_code == 400


async def test_a_template_keeps_so_many_versions_and_no_more():
    async with standing(prompt_versions=2) as stand, client(stand) as web:
        first = await save(web)
        await save(web, TERSE.replace("one", "two"))
        full = await web.post(f"{PATH}/versions", json={"text": TERSE.replace("one", "three")})
        assert full.status_code == 409
        assert "2 versions" in full.json()["error"]["message"]
        assert (await web.delete(f"{PATH}/versions/{first['version']}")).status_code == 204
        third = await save(web, TERSE.replace("one", "three"))
        assert third["version"].startswith("en-edit-3."), "it counts on"


async def test_what_is_in_force_or_built_in_is_not_deleted(web):
    saved = await save(web)
    await web.post(f"{PATH}/activate", json={"version": saved["version"]})
    assert (await web.delete(f"{PATH}/versions/{saved['version']}")).status_code == 409
    assert (await web.delete(f"{PATH}/versions/en-1.0a")).status_code == 409
    assert (await web.delete(f"{PATH}/versions/en-edit-7.00000000")).status_code == 404


async def test_the_built_in_version_can_be_put_in_force_by_name(web):
    saved = await save(web)
    await web.post(f"{PATH}/activate", json={"version": saved["version"]})
    now = (await web.post(f"{PATH}/activate", json={"version": "built-in"})).json()
    assert (now["version"], now["built_in"]) == ("en-1.0a", True)
    assert await version_asked_with(web) == "1"
    assert (await web.post(f"{PATH}/roll-back")).json()["version"] == saved["version"]


async def test_a_draft_answers_one_question_and_no_other(stand, web):
    stand.world.completions = [["a model writes"]]  # its reader is a language model
    tried = await web.post(f"{PATH}/try", json={"text": TERSE, "question": QUESTION})
    assert tried.status_code == 200, tried.text
    assert tried.json()["prompt_version"].startswith("en-draft.")
    assert await version_asked_with(web) == "1"
    assert [one["built_in"] for one in (await web.get(f"{PATH}/versions")).json()["versions"]] == [True]


async def test_a_draft_that_would_not_be_used_is_not_tried(stand, web):
    quoted = await web.post(f"{PATH}/try", json={"text": TERSE, "question": QUESTION})
    assert quoted.status_code == 409, "the extractive reader has no prompt"
    stand.world.completions = [["a model writes"]]
    other = await web.post(f"{PATH}/try", json={"text": TERSE, "question": "净销售额是多少？"})
    assert other.status_code == 409
    assert other.json()["error"]["details"]["field"] == "question"
    plan = stand.gateway.prompts.sources[1]
    text = next(one.text for one in await plan.prompts() if (one.name, one.language) == ("agent-plan", "en"))
    path = "/v1/prompts/agent-plan/en"
    assert (await web.post(f"{path}/try", json={"text": text, "question": QUESTION})).status_code == 409


@pytest.mark.parametrize(("used", "other"), [("answer", "short_answer"), ("short_answer", "answer")])
async def test_only_the_prompt_that_answers_are_written_with_is_tried(stand, web, used, other):
    stand.world.completions, stand.world.prompt = [["a model writes"]], used
    body = {"text": TERSE, "question": QUESTION}
    refused = await web.post(f"/v1/prompts/{other}/en/try", json=body)
    assert refused.status_code == 409
    assert "QUELEA_GENERATOR_PROMPT" in refused.json()["error"]["message"]
    assert (await web.post(f"/v1/prompts/{used}/en/try", json=body)).status_code == 200


async def test_what_one_gateway_puts_in_force_the_other_answers_with(tmp_path, monkeypatch):
    monkeypatch.setattr(prompt_store, "RENEW_SECONDS", 0.0)
    url = str(tmp_path / "prompts")
    async with (
        standing(prompts_url=url) as one,
        standing(prompts_url=url) as two,
        client(one) as web,
        client(two) as other,
    ):
        assert await version_asked_with(other) == "1"
        saved = await save(web)
        await web.post(f"{PATH}/activate", json={"version": saved["version"]})
        assert await version_asked_with(other) == saved["version"]
    async with standing(prompts_url=url) as again, client(again) as web:
        assert await version_asked_with(web) == saved["version"], "it outlives a restart"


async def test_an_edit_that_a_new_release_cannot_fill_in_is_not_used_and_said(stand, web):
    saved = await save(web)
    await web.post(f"{PATH}/activate", json={"version": saved["version"]})
    newer = PromptTemplate("answer", "en", "en-2.0d", ANSWER.replace("$question", "$question $figures"))
    stand.gateway.prompts.sources = (Source(newer),)
    told = (await web.get("/v1/prompts")).json()
    assert [one["version"] for one in told["prompts"]] == ["en-2.0d"]
    assert "lacks $figures" in told["problems"][0]
    listed = (await web.get(f"{PATH}/versions")).json()["versions"]
    assert listed[0]["problems"] == ["The part ---user--- lacks $figures."]
    assert (await web.post(f"{PATH}/activate", json={"version": saved["version"]})).status_code == 400


async def test_only_administrators_edit(tmp_path):
    file = tmp_path / "keys.json"
    chief = keys.create(file, "chief", administrator=True)
    reader = keys.create(file, "reader", administrator=False)
    async with standing(auth="keys", keys_file=str(file)) as stand, client(stand) as web:
        web.headers["Authorization"] = f"Bearer {reader}"
        assert (await web.get("/v1/prompts")).status_code == 200
        assert (await web.get("/v1/info")).json()["administrator"] is False
        body = {"text": TERSE, "version": "built-in", "question": QUESTION}
        for method, path, names in [
            ("GET", "/versions", ()),
            ("POST", "/versions", ("text",)),
            ("DELETE", "/versions/en-edit-1.00000000", ()),
            ("GET", "/diff", ()),
            ("POST", "/activate", ("version",)),
            ("POST", "/roll-back", ()),
            ("POST", "/try", ("text", "question")),
        ]:
            sent = {name: body[name] for name in names}
            reply = await web.request(method, PATH + path, **({"json": sent} if sent else {}))
            assert reply.status_code == 403, path
        web.headers["Authorization"] = f"Bearer {chief}"
        assert (await web.get("/v1/info")).json()["administrator"] is True
        assert (await save(web))["author"] == "chief"


def client(stand):
    return httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60)
