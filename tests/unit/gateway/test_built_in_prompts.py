"""Every built-in template fits itself: what an edit of it is held to, it keeps."""

import pytest
from quelea_gateway.core.agent.decision.prompts import prompts
from quelea_gateway.core.answers import structured
from quelea_gateway.core.asking import query_plan
from quelea_kit.prompt_text import misfits, parse, with_label


async def test_every_built_in_template_could_be_saved_as_an_edit():
    found = [*prompts(), *await structured.PROMPT.prompts(), *await query_plan.PROMPT.prompts()]
    assert len(found) == 14
    for one in found:
        assert misfits(with_label(one.text, "draft"), one.text) == [], (one.name, one.language)


@pytest.mark.parametrize("text", ["version: a\n---user---\nx\n", "---user---\nx\n"])
def test_a_label_is_put_in_the_place_of_another_or_before_a_text_without(text):
    assert with_label(text, "b") == "version: b\n---user---\nx\n"
    assert parse(with_label(text, "b")).version.startswith("b.")
