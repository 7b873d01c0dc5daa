"""A new action is one new file: the schema, the prompt, the reader and the loop know it."""

import json
import sys

import pytest
from quelea_gateway.core.agent import actions
from quelea_gateway.core.agent.decision.decisions import read_action
from support.agent_world import FAST, SayingModel, asking, good, ran, world

ADD = '''
"""add: the sum of two numbers."""

from quelea_gateway.core.agent.action import Action, text_schema
from quelea_gateway.core.agent.model import Choice, Observation
from quelea_gateway.core.agent.decision.parsing import string


class Add(Action):
    """Adds."""

    name = "add"
    place = 15
    description = {"en": 'add two numbers: {"first", "second"}', "zh": '两数相加：{"first", "second"}'}
    fields = {"first": ("a",), "second": ("b",)}

    def schema(self, known):
        return {"first": text_schema(20), "second": text_schema(20)}

    def read(self, value, known):
        return Choice(self.name, {name: string(value, name, longest=20) for name in ("first", "second")})

    async def run(self, work, choice):
        return Observation(f"The sum is {int(choice.text('first')) + int(choice.text('second'))}.")
'''


@pytest.fixture
def add(tmp_path, monkeypatch):
    (tmp_path / "add_numbers.py").write_text(ADD, "utf-8")
    monkeypatch.setattr(actions, "__path__", [*actions.__path__, str(tmp_path)])
    actions.all_actions.cache_clear()
    yield
    actions.all_actions.cache_clear()
    sys.modules.pop(f"{actions.__name__}.add_numbers", None)


def test_the_actions_of_the_product_are_found_in_the_order_that_the_model_sees():
    assert list(actions.all_actions()) == [
        "kb-search", "open-page", "financials", "api-select", "api-details", "web-search", "code-exec", "finish"
    ]  # fmt: skip


def test_an_action_says_what_it_does_in_both_languages_and_names_every_field():
    for name, action in actions.all_actions().items():
        assert set(action.description) == {"en", "zh"}, name
        for text in action.description.values():
            assert all(f'"{field}"' in text for field in action.fields), name


@pytest.mark.usefixtures("add")
def test_an_action_is_read_under_its_other_names_too():
    choice = read_action(("add", "finish"))('{"action": "add", "a": 2, "b": 3}').choices[0]
    assert (choice.action, choice.shown()) == ("add", {"action": "add", "first": "2", "second": "3"})


@pytest.mark.usefixtures("add")
async def test_a_new_file_is_a_new_action_in_schema_prompt_and_loop():
    chosen = [json.dumps({"action": "add", "first": "40", "second": "2"}), json.dumps({"action": "finish"})]
    model = SayingModel(good(action=chosen))
    _, journal = await ran(world(model), asking(), FAST)
    assert [data["action"] for data in journal.of("step")] == ["add", "finish"]
    assert journal.of("output")[0]["text"] == "The sum is 42."
    asked = [(messages, schema) for kind, messages, schema in model.asked if kind == "action"]
    shapes = {
        one["properties"]["action"]["const"]: one
        for one in json.loads(asked[0][1])["properties"]["actions"]["items"]["anyOf"]
    }
    assert set(shapes["add"]["required"]) == {"action", "first", "second"}
    prompt = "\n".join(message.text for message in asked[0][0])
    assert '- add: add two numbers: {"first", "second"}' in prompt
    assert "The sum is 42." in asked[1][0][1].text
