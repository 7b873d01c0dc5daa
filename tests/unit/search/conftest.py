"""Small documents made on the spot: a PDF writer of a few lines, and parse() with the default limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from quelea_search.adapters.formats import parse
from quelea_search.core.model import ParsedDocument, ParseLimits

Text = tuple[float, float, str] | tuple[float, float, str, str] | tuple[float, float, str, str, float]
DATA = Path(__file__).resolve().parents[4] / "shared" / "data"


def pdf_bytes(pages: Sequence[Sequence[Text]], *, encrypt: bool = False, title: str = "") -> bytes:
    """A PDF of (x, y, text[, "bold"[, size]]) items, 612 x 792 points, Helvetica."""
    objects: list[bytes] = []

    def add(body: bytes) -> int:
        objects.append(body)
        return len(objects)

    regular = add(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
    bold = add(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>")
    kids: list[int] = []
    tree = len(objects) + 2 * len(pages) + 1
    for page in pages:
        stream = b""
        for item in page:
            x, y, text, weight, size = (*item, *("regular", 10.0)[len(item) - 3 :])
            escaped = str(text).encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
            font = b"F2" if weight == "bold" else b"F1"
            stream += b"BT /%s %g Tf %g %g Td (%s) Tj ET\n" % (font, size, x, y, escaped)
        content = add(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        kids.append(
            add(
                b"<< /Type /Page /Parent %d 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
                b"/Resources << /Font << /F1 %d 0 R /F2 %d 0 R >> >> >>" % (tree, content, regular, bold)
            )
        )
    add(b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(b"%d 0 R" % kid for kid in kids)))
    root = add(b"<< /Type /Catalog /Pages %d 0 R >>" % tree)
    trailer = b"/Root %d 0 R" % root
    if title:
        trailer += b" /Info %d 0 R" % add(b"<< /Title (%s) >>" % title.encode("cp1252"))
    if encrypt:
        secret = b"<" + b"5A" * 32 + b">"
        trailer += b" /Encrypt %d 0 R /ID [<00> <00>]" % add(
            b"<< /Filter /Standard /V 1 /R 2 /Length 40 /P -44 /O %s /U %s >>" % (secret, secret)
        )
    out = b"%PDF-1.4\n"
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return out + b"trailer << /Size %d %s >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, trailer, start)


@pytest.fixture
def make_pdf() -> Callable[..., bytes]:
    return pdf_bytes


@pytest.fixture
def parse_it() -> Callable[..., ParsedDocument]:
    def run(data: bytes, name: str, **limits: int) -> ParsedDocument:
        return parse(data, name, limits=ParseLimits(**limits), on_progress=lambda done, total: None)

    return run


@pytest.fixture
def data_folder() -> Path:
    """The development data beside the checkout; a test that wants it is skipped, saying so, where it is absent."""
    if not DATA.is_dir():
        pytest.skip(f"development data absent: {DATA}")
    return DATA
