"""Measures ingestion end to end against running services, as a share of the encoder's own rate.

For each file, one after the other: its passages straight to the embedder in full batches (the encoder's best), then
the file through search, Redis, a worker, the retriever and the same embedder. The ratio of the two rates is what
matters; what else the machine does slows both.

With --pages the pages of the files, which are PDFs then, are made into one filing of so many pages, again and again
from the first where there are too few; `seconds` is what it takes from the first byte to the end of its job.

Run as: python -m quelea_search.bench --embedder HOST:PORT --search HOST:PORT [--pages 100] [--json] FILE...
The files come in under uris of their own and are deleted again.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import itertools
import json
import sys
import time
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

import pypdfium2 as pdfium
from quelea.embedder.v1 import embedder_pb2, embedder_pb2_grpc
from quelea.search.v1 import search_pb2 as pb
from quelea.search.v1 import search_pb2_grpc
from quelea_kit.client import channel, stream, unary

from quelea_search.core.model import DocumentFacts, ParseLimits
from quelea_search.jobs.file_parsing import read_file

_TEXTS = 64
_CALLS = 4
_SECONDS = 3600.0


def indexed_texts(data: bytes, filename: str) -> list[str]:
    """About what the retriever has embedded for a file: header, table head and text of each passage."""
    cut = read_file(data, filename, DocumentFacts(), ParseLimits())
    facts = cut.facts
    head = " · ".join(filter(None, (facts.company or facts.title, facts.document_type, facts.period.label)))
    return [" ".join(filter(None, (head, c.section, c.table_head, c.text))) for c in cut.chunks]


async def encode(stub: embedder_pb2_grpc.EmbedderServiceAsyncStub, texts: list[str]) -> float:
    """Seconds that the embedder takes for the texts, with enough calls under way to keep it busy."""
    slots = asyncio.Semaphore(_CALLS)

    async def send(part: list[str]) -> None:
        async with slots:
            request = embedder_pb2.EmbedRequest(texts=part, kind=embedder_pb2.EMBED_KIND_PASSAGE)
            await unary(stub.Embed(request, timeout=_SECONDS))

    started = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for first in range(0, len(texts), _TEXTS):
            group.create_task(send(texts[first : first + _TEXTS]))
    return time.perf_counter() - started


async def ingest(stub: search_pb2_grpc.SearchServiceAsyncStub, data: bytes, filename: str) -> float:
    """Seconds from the first byte sent to the end of the job."""

    async def messages() -> AsyncIterator[pb.SubmitDocumentRequest]:
        info = pb.DocumentInfo(filename=filename)
        info.metadata.uri = f"bench:{uuid.uuid4()}"
        yield pb.SubmitDocumentRequest(info=info)
        # A few bytes after the end make it a document that is not there yet; no parser minds them.
        for piece in (data, b"\n" * (1 + uuid.uuid4().int % 1000)):
            for first in range(0, len(piece), 1024 * 1024):
                yield pb.SubmitDocumentRequest(chunk=piece[first : first + 1024 * 1024])

    started = time.perf_counter()
    job = (await unary(stub.SubmitDocument(messages(), timeout=_SECONDS))).job
    async for event in stream(stub.WatchJob(pb.WatchJobRequest(id=job.id), timeout=_SECONDS)):
        job = event.job
    seconds = time.perf_counter() - started
    if job.state != pb.JOB_STATE_SUCCEEDED or job.unchanged:
        raise RuntimeError(f"{filename}: {job.error or 'it was there already'}")
    await unary(stub.DeleteDocument(pb.DeleteDocumentRequest(document_id=job.document_id), timeout=_SECONDS))
    return seconds


def bind_pages(files: Sequence[bytes], pages: int) -> bytes:
    """One PDF of so many pages."""
    bound, count = pdfium.PdfDocument.new(), 0
    for data in itertools.cycle(files):
        source = pdfium.PdfDocument(data)
        wanted = min(len(source), pages - count)
        bound.import_pages(source, range(wanted))
        count += wanted
        if count == pages:
            break
    out = io.BytesIO()
    bound.save(out)
    return out.getvalue()


async def measure(embedder: str, search: str, files: Mapping[str, bytes]) -> dict[str, float]:
    """Passages a second of both, and their ratio.

    Args:
        embedder: host:port.
        search: host:port.
        files: Bytes by name.
    """
    passages, encoding, ingesting = 0, 0.0, 0.0
    async with (
        channel(embedder, "quelea.embedder.v1.EmbedderService") as one,
        channel(search, "quelea.search.v1.SearchService") as other,
    ):
        encoder = embedder_pb2_grpc.EmbedderServiceStub(one)
        service = search_pb2_grpc.SearchServiceStub(other)
        for name, data in files.items():
            texts = await asyncio.to_thread(indexed_texts, data, name)
            passages += len(texts)
            # Half before and half after, so that a machine that gets busier favours neither.
            encoding += await encode(encoder, texts[::2])
            ingesting += await ingest(service, data, name)
            encoding += await encode(encoder, texts[1::2])
    return {
        "files": len(files),
        "passages": passages,
        "encoder_passages_per_second": round(passages / encoding, 2),
        "ingestion_passages_per_second": round(passages / ingesting, 2),
        "ratio": round(encoding / ingesting, 3),
        "seconds": round(ingesting, 2),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Ingestion against the encoder's own rate.")
    parser.add_argument("--embedder", required=True)
    parser.add_argument("--search", required=True)
    parser.add_argument("--pages", type=int, default=0, help="bind the files into one filing of so many pages")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("files", nargs="+", type=Path)
    given = parser.parse_args()
    files = {path.name: path.read_bytes() for path in given.files}
    if given.pages:
        files = {"filing.pdf": bind_pages(list(files.values()), given.pages)}
    found = asyncio.run(measure(given.embedder, given.search, files))
    lines = [json.dumps(found)] if given.json else [f"{name:32}{value}" for name, value in found.items()]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
