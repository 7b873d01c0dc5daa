"""kill -9 while it writes: whatever was acknowledged is there, whatever was not committed is not seen."""

import asyncio
import subprocess
import sys

import pytest
from quelea_retriever.adapters.qdrant_edge import QdrantEdgeStore
from quelea_retriever.adapters.store import Profile
from quelea_retriever.library import Library
from quelea_retriever.testing import DIMENSION, memory_folder

WRITER = """
import asyncio, sys
from pathlib import Path
from quelea_retriever.adapters.qdrant_edge import QdrantEdgeStore
from quelea_retriever.adapters.store import Profile
from quelea_retriever.core.model import DocumentFacts
from quelea_retriever.library import Library
from quelea_retriever.testing import DIMENSION, document_id, new_passages

async def main():
    library = Library(QdrantEdgeStore(Path(sys.argv[1]), flush_points=50))
    await library.start()
    await library.store.ensure(Profile("m", DIMENSION))
    n = 0
    while True:
        facts = DocumentFacts(id=document_id(str(n)), uri=f"u{n}", passages=3)
        await library.put(facts, new_passages(facts, ["one", "two", "three"]))
        print("put", facts.id, flush=True)
        await library.commit(facts)
        print("commit", facts.id, flush=True)
        n += 1

asyncio.run(main())
"""

RENEWER = (
    WRITER.partition("    n = 0")[0]
    + """
    facts = DocumentFacts(id=document_id("page"), uri="u", title="Page", passages=3, fetched="0")
    await library.put(facts, new_passages(facts, ["one", "two", "three"]))
    await library.commit(facts)
    for n in range(1, 100_000):
        await library.commit(DocumentFacts(facts.id, "Page", "u", ticker=f"T{n}", passages=3, fetched=str(n)))
        print("renewed", n, flush=True)

asyncio.run(main())
"""
)


def killed_while_writing(folder, lines, script=WRITER):
    """Acknowledgements of a writer that was killed after so many of them."""
    process = subprocess.Popen([sys.executable, "-c", script, str(folder)], stdout=subprocess.PIPE, text=True)
    said = [process.stdout.readline().split() for _ in range(lines)]
    process.kill()
    said += [line.split() for line in process.stdout.read().splitlines()]
    process.wait()
    return [line for line in said if len(line) == 2]


@pytest.mark.parametrize("lines", [60, 115])
async def test_no_acknowledged_passage_is_lost(lines):
    with memory_folder() as folder:
        said = await asyncio.to_thread(killed_while_writing, folder, lines)
        assert len(said) >= lines
        library = Library(QdrantEdgeStore(folder))
        await library.start()
        await library.store.ensure(Profile("m", DIMENSION))
        versions = {version.partition("-")[0]: n for version, n in (await library.store.versions()).items()}
        for what, document in said:
            assert versions[document] == 3
            if what == "commit":
                assert document in library.snapshot.by_document
        assert len(library.snapshot.by_document) <= sum(what == "commit" for what, _ in said) + 1
        await library.close()


async def test_a_record_that_is_being_renewed_is_the_last_one_whole():
    with memory_folder() as folder:
        said = await asyncio.to_thread(killed_while_writing, folder, 40, RENEWER)
        last = max(int(number) for what, number in said if what == "renewed")
        library = Library(QdrantEdgeStore(folder))
        await library.start()
        (record,) = await library.store.records()
        number = int(record.facts.fetched)
        assert number in (last, last + 1)
        assert record.facts.ticker == f"T{number}"
        assert list((await library.store.versions()).items()) == [(record.version, 3)]
        await library.close()
