"""What the gateway knows of its reader is never older than it promises, however long nobody asked."""

from types import SimpleNamespace

import pytest
from quelea_gateway.adapters.services import generator as adapter
from quelea_kit.errors import Unavailable
from quelea_kit.testing import wait_until_async


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch):
    """Move the client's clock on."""
    now = [1000.0]
    monkeypatch.setattr(adapter, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def move(seconds: float) -> None:
        now[0] += seconds

    return move


async def test_a_question_after_a_pause_sees_the_reader_of_today(stand, later):
    client = stand.gateway.generator
    later(3600)  # whatever the start has asked
    assert (await client.info()).reader == "extractive"
    stand.world.completions = [["a model writes now"]]
    later(9)
    assert (await client.info()).reader == "extractive", "so old it may be"
    later(3600)
    assert (await client.info()).reader == "openai", "an hour without a question, and the first one is not misled"


async def test_under_load_it_is_renewed_beside_the_work(stand, later):
    client = stand.gateway.generator
    later(3600)
    await client.info()
    stand.world.completions = [["a model writes now"]]
    later(12)
    assert (await client.info()).reader == "extractive", "this question does not wait"
    await wait_until_async(client._refresh.done, what="the answer to the question beside it")
    assert (await client.info()).reader == "openai"


async def test_while_the_generator_is_away_the_last_word_counts_and_few_wait(stand, later):
    client = stand.gateway.generator
    later(3600)
    await client.info()
    await stand.services.stop("generator")
    later(60)
    assert (await client.info()).reader == "extractive"
    asked = client._refresh
    assert (await client.info()).reader == "extractive"
    assert client._refresh is asked, "not asked again within the second"
    later(2)
    await client.info()
    assert client._refresh is not asked
    with pytest.raises(Unavailable):
        await client.health.check()
