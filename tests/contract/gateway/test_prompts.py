"""GET /v1/prompts: every template of every source, with its version."""

from quelea_gateway.core.prompts import PromptTemplate
from quelea_kit.errors import Unavailable


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


async def test_templates_are_listed_with_their_versions(web):
    told = (await web.get("/v1/prompts")).json()
    assert {one["language"] for one in told["prompts"] if one["name"] == "agent-plan"} == {"en", "zh"}
    assert all(one["version"] and one["text"] for one in told["prompts"])
    assert [(one["name"], one["language"], one["version"]) for one in of_the_reader(told)] == [
        ("answer", "en", "en-1.0a"),
        ("answer", "zh", "zh-1.0b"),
    ]
    assert told["problems"] == []
    only = (await web.get("/v1/prompts", params={"name": "answer", "language": "zh"})).json()
    assert [one["text"] for one in only["prompts"]] == ["version: zh-1\n回答。"]
    assert (await web.get("/v1/prompts", params={"name": "other"})).json()["prompts"] == []


async def test_sources_are_merged_and_one_that_is_away_is_named(stand, web):
    plan = PromptTemplate("agent_plan", "en", "en-1.77", "Plan.")
    stand.gateway.prompt_sources = (*stand.gateway.prompt_sources, Source(plan), Source(Unavailable("It is away.")))
    told = (await web.get("/v1/prompts")).json()
    assert [one["name"] for one in of_the_reader(told)] == ["agent_plan", "answer", "answer"]
    assert told["problems"] == ["It is away."]
    await stand.services.stop("generator")
    told = (await web.get("/v1/prompts")).json()
    assert [one["name"] for one in of_the_reader(told)] == ["agent_plan"]
    assert len(told["problems"]) == 2
