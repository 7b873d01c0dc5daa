"""A gateway's ask pipeline with a web of fakes: what stands around the tests of the web step."""

import asyncio

from quelea_checker import check_answer
from quelea_gateway.core.gate.gates import CosineGate
from quelea_gateway.core.model import (
    Answer,
    Delta,
    Finished,
    Kept,
    Passage,
    Question,
    Ranked,
    ReaderInfo,
    Reading,
    Retrieved,
    Started,
)
from quelea_gateway.core.pipeline import Pipeline
from quelea_gateway.core.web.model import WebFound, WebPage
from quelea_gateway.core.web.route import WebLimits, WebRoute
from quelea_gateway.core.web.useful_page_reporter import UsefulPageReporter
from quelea_kit.errors import Unavailable

AS_OF = "2024-02-01"


def local(n, **more):
    text = f"Net sales of part {n} were {n}00 units."
    return Passage(**{
        "document_id": f"l{n}", "page": 1, "start": 0, "end": len(text), "text": text, "published": "2023-08-04",
        "cosine": 0.80, "score": 1 / n, **more,
    })  # fmt: skip


def web(n, **more):
    text = f"Rivian delivered {n}0,122 vehicles in 2023."
    return local(n, **{
        "document_id": f"w{n}", "text": text, "end": len(text), "source": "web", "from_web": True, "cosine": 0.0,
        "published": "2024-01-02", "title": f"Rivian {n}", **more,
    })  # fmt: skip


def page(n, *passages, **more):
    return WebPage(f"w{n}", f"https://x.test/{n}", passages or (web(n, **more),))


FOUND = WebFound((page(1), page(2)), provider="searxng", cached=True, stages={"provider": 4.0, "fetch": 3.0})


class FakeRetriever:
    def __init__(self, found, *, rank_error=None):
        self.found, self.rank_error, self.searches, self.ranks = found, rank_error, [], []

    async def search(self, query, *, k, as_of, filters):
        self.searches.append((query, k, as_of))
        return self.found(k) if callable(self.found) else self.found

    async def companies(self, texts):
        return ()

    async def rank(self, query, passages):
        """Web passages first, in their order."""
        self.ranks.append((query, tuple(passages)))
        if self.rank_error:
            raise self.rank_error
        places = sorted(range(len(passages)), key=lambda i: passages[i].source == "local")
        known = [passages[i].cosine or 0.9 for i in places]
        return tuple(
            Ranked(i, 1.0 - 0.1 * n, cosine, f"head {i}")
            for n, (i, cosine) in enumerate(zip(places, known, strict=True))
        )


class CheckedHere:
    async def check(self, answer, passages, *, question=""):
        return check_answer(answer, passages, question=question)


class FakeGenerator:
    def __init__(self):
        self.calls = []

    async def info(self):
        return ReaderInfo("extractive", "m", 10_000)

    async def rewrite(self, question, companies=()):
        raise Unavailable("no generator")

    async def generate(self, question, evidence, *, evidence_incomplete, figures=()):
        self.calls.append((evidence, evidence_incomplete))
        yield Delta(f"{evidence[0].text} [1]" if evidence else "Unable.")
        yield Finished("stop" if evidence else "declined", "extractive", "m")


class FakeWeb:
    def __init__(self, found=FOUND, providers=("searxng",)):
        self.found, self.names, self.finds, self.kept = found, providers, [], []
        self.keep_waits = asyncio.Event()
        self.keep_waits.set()

    async def providers(self):
        return self.names

    async def find(self, query, **said):
        self.finds.append((query, said))
        if isinstance(self.found, Exception):
            raise self.found
        if self.found is None:
            await asyncio.sleep(3600)
        return self.found

    async def keep(self, order):
        self.kept.append(order)
        await self.keep_waits.wait()
        return tuple(Kept(p.url, "kept", "j") for p in order.pages)


class Room:
    def __init__(self, *, found=None, reading=None, web=None, gate=0.84, rank_error=None, seconds=5.0, c=0.84):
        passages = tuple(local(n) for n in range(1, 4))
        self.retriever = FakeRetriever(found or Retrieved(passages, reading or Reading(), 0.8), rank_error=rank_error)
        self.generator, self.web = FakeGenerator(), web or FakeWeb()
        self.reports = []
        self.reporter = UsefulPageReporter(
            self.web.keep, seconds=5.0, most=8, report=lambda *said: self.reports.append(said)
        )
        limits = WebLimits(pages=4, passages=7, seconds=seconds)
        route = WebRoute(self.web, self.retriever, self.reporter, cosine=c, limits=limits)
        self.pipeline = Pipeline(self.retriever, self.generator, CosineGate(gate), CheckedHere(), route)

    async def ask(self, text="How many vehicles did Rivian deliver?", **more):
        asked = Question(**{"text": text, "as_of": AS_OF, "k": 3, "j": 2, **more})
        items = [item async for item in self.pipeline.ask(asked)]
        assert isinstance(items[0], Started)
        assert isinstance(items[-1], Answer)
        return items[0], items[-1]
