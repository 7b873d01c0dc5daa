"""Two readers behind one service: who answers is told by the model that a request names."""

from datetime import date

from quelea_generator.core.extractive.reader import ExtractiveReader
from quelea_generator.core.model import Delta, Evidence, Finished, Task
from quelea_generator.core.two_readers import TwoReaders

TASK = Task(
    "What were net sales in 2023?", (Evidence(1, "Net sales were $ 81,797 million in 2023."),), date(2024, 1, 2)
)


class Writer:
    name, model, prompt_version, context_tokens, adapters = "openai", "m", "en-1", 100, ("lora",)

    async def read(self, task):
        yield Delta("Written.")
        yield Finished("stop", task.model or "m")

    async def ready(self):
        return None

    async def close(self):
        return None


async def test_the_name_of_the_model_says_who_answers() -> None:
    both = TwoReaders(Writer(), ExtractiveReader())
    assert (both.name, both.model, both.context_tokens, both.adapters) == ("openai", "m", 100, ("lora", "extractive-1"))
    for model, reader in (("", ""), ("lora", ""), ("extractive-1", "extractive")):
        task = Task(TASK.question, TASK.evidence, TASK.as_of, model=model)
        events = [event async for event in both.read(task)]
        assert events[-1].reader == reader
    assert any("81,797" in event.text for event in events if isinstance(event, Delta))
