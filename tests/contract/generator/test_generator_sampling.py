"""How a caller has the model choose its words: from the rpc to the request that the engine gets."""

from typing import Any

import pytest
from quelea_generator.adapters.fake_endpoint import FakeEndpoint
from quelea_generator.core.extractive.reader import ExtractiveReader
from quelea_generator.core.model import PLAIN, Sampling
from quelea_kit.errors import InvalidInput
from support.generator import collect, model_reader, request, served


async def test_stop_top_p_and_seed_reach_the_model() -> None:
    chat = FakeEndpoint(["Sales were 81,797 ", "[1]."])
    async with served(model_reader(chat)) as stub:
        await collect(stub, request(stop=["\n\n", "END"], top_p=0.5, seed=0))
        await collect(stub, request())
    assert chat.samplings == [Sampling(("\n\n", "END"), 0.5, 0), PLAIN]


@pytest.mark.parametrize(
    "wrong", [{"top_p": 0.0}, {"top_p": 1.1}, {"stop": [""]}, {"stop": list("abcde")}], ids=["0", "1.1", "empty", "5"]
)
async def test_what_no_model_takes_is_refused(wrong: dict[str, Any]) -> None:
    chat = FakeEndpoint(["Sales."])
    async with served(model_reader(chat)) as stub:
        with pytest.raises(InvalidInput, match=r"top_p|stop"):
            await collect(stub, request(**wrong))
    assert not chat.seen


async def test_the_extractive_reader_quotes_all_the_same() -> None:
    async with served(ExtractiveReader()) as stub:
        plain = await collect(stub, request())
        told = await collect(stub, request(stop=["81"], top_p=0.5, seed=7))
    assert (told[0], told[2].reason) == (plain[0], plain[2].reason)
