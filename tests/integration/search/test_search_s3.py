"""Server, forked worker and the backup command with their files in an S3 bucket, and without one that can be used."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest
from quelea.search.v1 import search_pb2 as pb
from quelea_kit.client import unary
from quelea_kit.errors import NotFound, Unavailable
from quelea_kit.testing import free_port, wait_until_async
from quelea_search.testing import SECONDS

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def _run(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", *words], env=environment, capture_output=True, text=True, timeout=120, check=False
        )

    return await asyncio.to_thread(run)


async def _page(stack, document_id: str) -> str:
    async with stack.line() as stub:
        return (await unary(stub.GetPage(pb.GetPageRequest(document_id=document_id, page=1), timeout=60))).text


async def test_documents_live_in_the_bucket_and_come_back_from_one(search_on_s3) -> None:
    stack, bucket = search_on_s3
    jobs = [await stack.submit(f"# Company {n}\n\nNet sales were {n} million.\n".encode(), f"{n}.md") for n in range(4)]
    done = [await stack.ended(job.id) for job in jobs]
    assert [job.state for job in done] == [pb.JOB_STATE_SUCCEEDED] * 4, stack.log("worker")[-3000:]
    ids = [job.document_id for job in done]
    stored = sorted(f"documents/{one}/{name}" for one in ids for name in ("original", "pages.gz"))
    await wait_until_async(
        lambda: bucket.objects() == stored, seconds=SECONDS, what="the documents are there and no upload waits"
    )
    assert "2 million" in await _page(stack, ids[2])

    place = f"s3://{bucket.name}/kept"
    made = await _run(stack.environment, "quelea_search.admin", "backup", "--to", place, "--blobs", "--keep", "1")
    assert made.returncode == 0, made.stderr
    assert "8 files" in made.stdout
    async with stack.line() as stub:
        await unary(stub.DeleteDocument(pb.DeleteDocumentRequest(document_id=ids[2]), timeout=60))
        with pytest.raises(NotFound):
            await _page(stack, ids[2])
    assert not [name for name in bucket.objects() if ids[2] in name]
    back = await _run(stack.environment, "quelea_search.admin", "restore", "--from", place, "--blobs", "--replace")
    assert back.returncode == 0, back.stderr
    assert "2 million" in await _page(stack, ids[2])


async def test_a_missing_bucket_ends_the_server_and_the_backup_with_what_to_do(search_on_s3) -> None:
    stack, _ = search_on_s3
    nowhere = {"QUELEA_SEARCH_BLOBS_URL": "s3://no-such-bucket/x", "QUELEA_SEARCH_LISTEN": f"127.0.0.1:{free_port()}"}
    ended = await _run({**stack.environment, **nowhere}, "quelea_search")
    assert ended.returncode == 1
    assert "there is no bucket no-such-bucket: create it" in ended.stdout + ended.stderr
    made = await _run(stack.environment, "quelea_search.admin", "backup", "--to", "s3://no-such-bucket/kept")
    assert (made.returncode, made.stdout) == (1, "")
    assert "there is no bucket no-such-bucket: create it" in made.stderr


async def test_a_store_that_is_away_is_unavailable_and_the_server_stays(search_on_s3) -> None:
    stack, _ = search_on_s3
    away, before = f"http://127.0.0.1:{free_port()}", stack.environment["AWS_ENDPOINT_URL_S3"]
    stack.kill("server")
    try:
        stack.environment["AWS_ENDPOINT_URL_S3"] = away
        stack.start_server()
        await stack.until_healthy()
        with pytest.raises(Unavailable, match=r"The blob store at .* cannot be used: Could not connect"):
            await stack.submit(b"# x\n\nSome words.\n", "x.md")
        with pytest.raises(Unavailable, match="The blob store"):
            await _page(stack, "a" * 32)
        assert await stack.healthy()
        assert "blob_store_away" in stack.log("server")
    finally:
        stack.kill("server")
        stack.environment["AWS_ENDPOINT_URL_S3"] = before
        stack.start_server()
        await stack.until_healthy()
