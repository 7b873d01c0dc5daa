"""The events' data are what the models of the contract make of the pipeline's objects, to the byte."""

import json

import pytest
from quelea_gateway.core.asking import question as rules
from quelea_gateway.core.model import (
    Answer,
    AnswerFigure,
    AnswerOperand,
    Delta,
    Kept,
    Standalone,
    Started,
    Turn,
    WebTrace,
)
from quelea_gateway.core.review.verdicts import Grounding
from quelea_gateway.rest.answers.answer_schemas import AnswerOut, CitationOut, DeltaOut, GroundingOut, StartedOut
from quelea_gateway.rest.answers.ask import data_of


def by_contract(item):
    if isinstance(item, Delta):
        cited = [CitationOut.of(one).model_dump(mode="json") for one in item.citations]
        if cited:
            return DeltaOut(text=item.text, citations=cited).model_dump_json()
        return json.dumps({"text": item.text}, ensure_ascii=False)
    models = {Started: StartedOut.of, Grounding: GroundingOut.given, Answer: AnswerOut.of}
    return models[type(item)](item).model_dump_json()


async def items(stand, text, **more):
    stand.world.web_providers = ["searxng"]
    asked = rules.build(text, stand.gateway.limits, as_of="2024-02-01", **more)
    return [item async for item in stand.gateway.pipeline.ask(asked)]


ASKED = {
    "a figure": ("What were Apple's total net sales in the third quarter of fiscal 2023?", {}),
    "Chinese": ("苹果公司2023年第三季度的净销售额是多少？", {}),
    "the web": ("What is the latest news on Apple?", {"route": "web"}),
    "nothing found": ("What were Ford's net sales on the moon in the third quarter of 1890?", {}),
    "a follow-up": (
        "And the year before?",
        {"history": [Turn("user", "What were Apple's net sales in 2023?"), Turn("assistant", "$ 81,797 million")]},
    ),
}


@pytest.mark.parametrize(("text", "more"), ASKED.values(), ids=ASKED.keys())
async def test_of_real_answers(stand, text, more):
    found = await items(stand, text, **more)
    assert {type(item) for item in found} >= {Started, Delta, Answer}
    assert [data_of(item) for item in found] == [by_contract(item) for item in found]


async def test_of_everything_that_may_be_in_them(stand):
    *_, answer = await items(stand, ASKED["a figure"][0])
    web = WebTrace("searxng", 2, (Kept("https://a.test/ä", "kept", "7"),), ("https://b.test: \u2028",), cached=True)
    full = {**vars(answer), "web": web, "standalone": Standalone("Q\u2028\ud7ff?", "rules"), "notices": ('"\\',)}
    assert data_of(Answer(**full)) == by_contract(Answer(**full))
    operand = AnswerOperand("Sales ä", "revenue", "9", "USD", "", "2023-07-01", "table", 1, "d", 4, 0, 1, "9")
    figure = AnswerFigure("Apple", "", "9", "USD", "", "2023-07-01", "{0}", "", 2023, ("x",), (operand,))
    stated = Answer(**{**full, "figures": (figure,)})
    assert data_of(stated) == by_contract(stated)
    bare = Answer(**{**full, "web": None, "standalone": None, "grounding": None, "citations": ()})
    assert data_of(bare) == by_contract(bare)
    for text in ("", 'a "b" \\ \n\t中文 \u2028 \x00', "\U0001f426"):
        assert data_of(Delta(text)) == by_contract(Delta(text))
