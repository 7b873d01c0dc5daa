"""A wording that a request brings is what the model is asked with, and the answer says its version."""

import pytest
from quelea.generator.v1 import generator_pb2 as pb
from quelea_generator.adapters.fake_endpoint import FakeEndpoint
from quelea_generator.core.chat.prompt_files import parse, prompt_file
from quelea_kit.errors import TooLarge
from quelea_kit.prompt_text import MOST_CHARS
from support.generator import collect, model_reader, request, served

BUILT_IN = prompt_file("answer", "en")


def bringing(text: str, language: str = "en") -> pb.GenerateRequest:
    return request(prompts=[pb.Prompt(name="answer", language=language, text=text)])


async def test_every_replica_that_gets_the_request_asks_with_its_wording() -> None:
    text = BUILT_IN.text.replace("You are a careful financial analyst.", "You are terse.")
    for _ in range(2):  # two that know nothing of each other
        chat = FakeEndpoint(["Sales were 81,797 [1]."])
        async with served(model_reader(chat)) as stub:
            _, _, finished = await collect(stub, bringing(text))
        assert finished.prompt_version == parse("answer", "en", text).version
        assert chat.seen[0][0].content.startswith("You are terse.")


async def test_one_that_cannot_be_filled_in_is_passed_over_and_said() -> None:
    chat = FakeEndpoint(["Sales were 81,797 [1]."])
    async with served(model_reader(chat)) as stub:
        _, _, finished = await collect(stub, bringing(BUILT_IN.text.replace("$context", "")))
    assert finished.prompt_version == BUILT_IN.version
    assert chat.seen[0][0].content.startswith("You are a careful financial analyst.")


async def test_more_text_than_any_templates_have_is_refused() -> None:
    async with served(model_reader(FakeEndpoint(["x"]))) as stub:
        with pytest.raises(TooLarge):
            await collect(stub, bringing("x" * (8 * MOST_CHARS + 1)))
