"""The ask pipeline on fakes, without a network."""

from quelea_checker import check_answer
from quelea_gateway.core.gate.gates import CosineGate
from quelea_gateway.core.model import Passage, Question, ReaderInfo, Retrieved, Standalone
from quelea_gateway.core.pipeline import Pipeline as WholePipeline


def passages(count: int) -> tuple[Passage, ...]:
    texts = [f"Net sales of part {n} were {n}00 units." for n in range(1, count + 1)]
    return tuple(
        Passage(document_id=f"d{n}", page=n, start=10, end=10 + len(t), text=t, score=1 / n)
        for n, t in enumerate(texts, start=1)
    )


def Pipeline(retriever, generator, passes=True):  # noqa: N802  # it makes one, with a gate that lets everything pass
    return WholePipeline(retriever, generator, CosineGate(-1.0 if passes else 1.0), CheckedHere())


class CheckedHere:
    async def check(self, answer, passages, *, question=""):
        return check_answer(answer, passages, question=question)


class FakeRetriever:
    def __init__(self, found: Retrieved, error: Exception | None = None):
        self.found, self.error, self.calls = found, error, []

    async def search(self, query, *, k, as_of, filters):
        self.calls.append((query, k, as_of, filters))
        if self.error:
            raise self.error
        return self.found

    async def companies(self, texts):
        self.texts = texts
        if self.error:
            raise self.error
        return ("Zebra",)


class FakeGenerator:
    def __init__(self, events, tokens=10_000):
        self.events, self.tokens, self.calls, self.closed = events, tokens, [], False
        self.rewrites: dict[str, Standalone | Exception] = {}

    async def info(self):
        return ReaderInfo("extractive", "m", self.tokens)

    async def rewrite(self, question, companies=()):
        self.companies = companies
        made = self.rewrites.get(question.text)
        if isinstance(made, Exception):
            raise made
        return made

    async def generate(self, question, evidence, *, evidence_incomplete, figures=()):
        self.calls.append((question, evidence, evidence_incomplete))
        try:
            for event in self.events:
                if isinstance(event, Exception):
                    raise event
                yield event
        finally:
            self.closed = True


def question(text="What were net sales?", **more) -> Question:
    return Question(**{"text": text, "as_of": "2024-01-02", "k": 5, "j": 2, **more})


async def run(pipeline, asked=None):
    return [item async for item in pipeline.ask(asked or question())]
