"""Originals over real gRPC: bytes, boxes of a quote, HTML that is safe to show; what a hostile file does."""

from __future__ import annotations

import hashlib
import io
import time

import pytest
from quelea.search.v1 import search_pb2 as pb
from quelea_kit.client import server_errors
from quelea_kit.errors import Conflict, DeadlineExceeded, InvalidInput, NotFound
from reportlab.pdfgen.canvas import Canvas
from support.hostile_files import pdf

PAGES = ("Total revenue was 4,321 million euros.", "Gross margin\t41.2%\t39.8%")


def keep(room, data: bytes, filename: str, pages=PAGES) -> str:
    """Store a document as a job would."""
    document_id = hashlib.sha256(data).hexdigest()[:32]
    upload = room.blobs.upload(document_id)
    upload.write(data)
    upload.commit()
    header = {"id": document_id, "filename": filename, "metadata": {}}
    room.blobs.keep(document_id, document_id, header, pages)
    return document_id


def printed() -> bytes:
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=(400, 300))
    canvas.drawString(50, 200, "Total revenue was 4,321")
    canvas.drawString(50, 180, "million euros.")
    canvas.showPage()
    canvas.setPageRotation(90)
    for x, text in ((50, "Gross margin"), (200, "41.2%"), (300, "39.8%")):
        canvas.drawString(x, 100, text)
    canvas.showPage()
    canvas.showPage()
    canvas.save()
    return file.getvalue()


async def read(room, document_id: str, offset: int = 0, length: int = 0) -> list[bytes]:
    request = pb.ReadOriginalRequest(document_id=document_id, offset=offset, length=length)
    with server_errors():
        return [reply.chunk async for reply in room.stub.ReadOriginal(request)]


async def locate(room, document_id: str, page: int, start: int, end: int) -> pb.LocateSpanResponse:
    with server_errors():
        return await room.stub.LocateSpan(
            pb.LocateSpanRequest(document_id=document_id, page=page, start=start, end=end)
        )


async def render(room, document_id: str, page: int, start: int, end: int) -> tuple[str, float]:
    request = pb.RenderOriginalRequest(document_id=document_id, page=page, start=start, end=end)
    with server_errors():
        replies = [reply async for reply in room.stub.RenderOriginal(request)]
    return b"".join(reply.chunk for reply in replies).decode(), replies[0].found


async def test_the_bytes_come_in_pieces_and_in_part(search_room) -> None:
    data = bytes(range(256)) * 9000
    document_id = keep(search_room, data, "a folder/数据.csv")
    about = await search_room.stub.GetOriginal(pb.GetOriginalRequest(document_id=document_id))
    assert (about.filename, about.media_type, about.size) == ("a folder/数据.csv", "text/csv", len(data))
    pieces = await read(search_room, document_id)
    assert b"".join(pieces) == data
    assert max(map(len, pieces)) == 1 << 20
    assert b"".join(await read(search_room, document_id, 100, 7)) == data[100:107]
    assert b"".join(await read(search_room, document_id, len(data) - 3, 50)) == data[-3:]
    assert await read(search_room, document_id, len(data) + 1) == []


@pytest.mark.parametrize(
    ("name", "start", "media_type"),
    [
        ("x.bin", b"%PDF-1.7", "application/pdf"),
        ("x.htm", b"<div>", "text/html"),
        ("x.docx", b"PK\3\4", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("x.docx", b"no package", "text/plain"),
        ("x", b"<!doctype html>", "text/html"),
        ("x", b"\0\1", "application/octet-stream"),
    ],
)
async def test_what_it_is(search_room, name: str, start: bytes, media_type: str) -> None:
    about = await search_room.stub.GetOriginal(pb.GetOriginalRequest(document_id=keep(search_room, start, name)))
    assert about.media_type == media_type


async def test_what_is_not_there(search_room) -> None:
    for document_id in ("0" * 32, "../../etc/passwd"):
        with pytest.raises(NotFound):
            await read(search_room, document_id)
        with pytest.raises(NotFound):
            await locate(search_room, document_id, 1, 0, 1)
    document_id = keep(search_room, printed(), "a.pdf")
    with pytest.raises(NotFound):
        await locate(search_room, document_id, 3, 0, 1)
    with pytest.raises(InvalidInput, match="38 characters"):
        await locate(search_room, document_id, 1, 5, 39)
    with pytest.raises(Conflict):
        await render(search_room, document_id, 1, 0, 5)
    with pytest.raises(Conflict):
        await locate(search_room, keep(search_room, b"plain", "a.txt"), 1, 0, 5)


async def test_a_quote_has_a_box_in_each_line(search_room) -> None:
    document_id = keep(search_room, printed(), "a.pdf")
    start = PAGES[0].index("4,321")
    found = await locate(search_room, document_id, 1, start, len(PAGES[0]))
    upper, lower = found.boxes
    assert found.found == 1.0
    assert 120 < upper.left < upper.right < 200
    assert upper.bottom < 200 < upper.top
    assert 49 < lower.left < 52
    assert lower.bottom < 180 < lower.top < upper.bottom + 6


async def test_cells_have_boxes_of_their_own_on_a_rotated_page(search_room) -> None:
    found = await locate(search_room, keep(search_room, printed(), "a.pdf"), 2, 0, len(PAGES[1]))
    assert [round(box.left / 10) for box in found.boxes] == [5, 20, 30]
    assert {round(box.bottom / 10) for box in found.boxes} == {10}


async def test_what_is_printed_in_part_says_so(search_room) -> None:
    document_id = keep(search_room, printed(), "b.pdf", ("Total revenue was 4,321 thousand dollars", "?", "a scan"))
    found = await locate(search_room, document_id, 1, 0, 40)
    assert 0.5 < found.found < 0.7
    assert len(found.boxes) == 1
    scan = await locate(search_room, document_id, 3, 0, 6)
    assert (scan.found, scan.no_text, len(scan.boxes)) == (0.0, True, 0)


async def test_html_is_marked_and_harmless(search_room) -> None:
    data = b"""<?xml version='1.0' encoding='ASCII'?><html><head><meta http-equiv="refresh" content="0;url=http://x.test">
    <base href="http://x.test/"><style>@import 'http://x.test/a.css'</style></head><body onload="alert(1)">
    <p id="quote" style="color:rgb(1,2,3);position:fixed;background:url(http://x.test/b)">Total <b onclick="x()">revenue
    </b>was<script>alert(2)</script> <ix:nonfraction name="r">4,321</ix:nonfraction> million euros.</p><mark>old</mark>
    <table border="1"><tr><td colspan="2">Gross margin</td></tr></table>
    <a href="javascript:x()">a</a><a href="#p2">b</a>
    <svg><script>x()</script></svg><iframe src="//x.test"></iframe><form action="//x.test"><input name="q"></form>
    <img src="http://x.test/c.png" onerror="x()"></body></html>"""
    shown, found = await render(search_room, keep(search_room, data, "a.htm"), 1, 6, 23)
    assert found == 1.0
    assert '<b><mark id="quote">revenue</mark>' in shown.replace("\n", "").replace("    ", "")
    assert "<mark>4,321</mark>" in shown or "4,321</mark>" in shown
    assert '<td colspan="2">' in shown
    assert "<style>.s0{color:rgb(1, 2, 3)}</style>" in shown
    assert '<p class="s0">' in shown
    assert '<a href="#p2">' in shown
    for bad in (
        "script",
        "x.test",
        "onclick",
        "onload",
        "onerror",
        "iframe",
        "form",
        "svg",
        "import",
        "refresh",
        "base",
    ):
        assert bad not in shown.replace("ix:nonfraction", "")
    assert shown.count('id="quote"') == 1


@pytest.mark.parametrize("name", ["a.pdf", "a.htm"])
async def test_broken_files_are_told_of(search_room, name: str) -> None:
    document_id = keep(search_room, b"%PDF-1.4 broken" if name == "a.pdf" else b"\x89\0\0<html>", name)
    with pytest.raises(InvalidInput):
        if name == "a.pdf":
            await locate(search_room, document_id, 1, 0, 5)
        else:
            await render(search_room, document_id, 1, 0, 5)


async def test_a_file_that_takes_for_ever_is_ended(search_room) -> None:
    """One line of text, drawn three million times."""
    search_room.originals._seconds = 1.0
    bomb = pdf(lambda size: b"BT /F 9 Tf " + b"(Total revenue was) Tj " * size + b"ET")(3_000_000)
    document_id = keep(search_room, bomb, "bomb.pdf")
    began = time.monotonic()
    with pytest.raises(DeadlineExceeded, match=r"longer than 1 s\. Try again in a minute"):
        await locate(search_room, document_id, 1, 0, 5)
    assert time.monotonic() - began < 30
    assert (await locate(search_room, keep(search_room, printed(), "a.pdf"), 1, 0, 5)).found == 1.0
