"""What cannot be read says why; the bytes decide what a file is."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
from collections.abc import Callable

import openpyxl
import pytest
from quelea_kit.errors import InvalidInput, Unsupported
from quelea_search.adapters.formats import FORMATS
from quelea_search.core.errors import EmptyDocument, Encrypted, TooLarge, TooManyPages, Unreadable, WrongType
from quelea_search.core.model import ParsedDocument
from support.formats import word_file

Parse = Callable[..., ParsedDocument]


def zipped(**parts: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in parts.items():
            package.writestr(name.replace("__", "/"), data)
    return out.getvalue()


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600


@pytest.mark.parametrize(
    ("data", "name", "error", "says"),
    [
        (b"", "a.pdf", EmptyDocument, "0 bytes"),
        (b" \n\t", "a.txt", EmptyDocument, "no text"),
        (b"<html><body></body></html>", "a.html", EmptyDocument, "no text"),
        (b"{}", "a.json", EmptyDocument, "no text"),
        (zipped(readme=b"hello"), "a.pdf", WrongType, "ZIP archive"),
        (zipped(mimetype=b"application/vnd.oasis.opendocument.text"), "a.odt", WrongType, "OpenDocument"),
        (b"PK\x03\x04" + b"broken" * 9, "a.docx", Unreadable, "broken"),
        (b"\x89PNG\r\n\x1a\n" + b"\x00" * 50, "a.pdf", WrongType, "PNG image"),
        (OLE, "a.doc", WrongType, "old Office file"),
        (OLE + "EncryptedPackage".encode("utf-16-le"), "a.docx", Encrypted, "encrypted"),
        (b"plain words", "a.pdf", WrongType, "not PDF"),
        (b"<html><p>x</p></html>", "a.docx", WrongType, "an HTML page, not DOCX"),
        (bytes(range(256)) * 20, "a.bin", WrongType, "binary file"),
        (bytes(range(256)) * 20, "a.pdf", Unreadable, "broken"),
        (b"{\\rtf1 hello}", "a.rtf", WrongType, "RTF"),
        (b'{"a": ', "a.json", Unreadable, "broken"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_says_why(
    parse_it: Parse, data: bytes, name: str, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says) as caught:
        parse_it(data, name)
    assert isinstance(caught.value, InvalidInput | Unsupported)
    assert caught.value.message.endswith(".") and len(caught.value.message) < 200


def test_office_files_with_a_broken_part(parse_it: Parse) -> None:
    whole = word_file(lambda d: d.add_paragraph("Hello there."))
    for victim in ("word/document.xml", "[Content_Types].xml", "word/styles.xml", "_rels/.rels"):
        for damage in (b"", b"<w:document", b"\x00\xff" * 40):
            out = io.BytesIO()
            with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(out, "w") as new:
                for part in old.namelist():
                    new.writestr(part, damage if part == victim else old.read(part))
            with pytest.raises(Unreadable):
                parse_it(out.getvalue(), "a.docx")
    at = whole.index(b"word/document.xml") + 60
    with pytest.raises(Unreadable):
        parse_it(whole[:at] + b"\xff" * 200 + whole[at + 200 :], "a.docx")


def test_the_bytes_decide_not_the_name(parse_it: Parse, make_pdf: Callable[..., bytes]) -> None:
    assert parse_it(word_file(lambda d: d.add_paragraph("Hello there.")), "a.pdf").format == "docx"
    assert parse_it(make_pdf([[(60, 700, "Hello there.")]]), "a.docx").format == "pdf"
    assert parse_it(b"<!DOCTYPE html><html><p>Hello</p></html>", "noname").format == "html"
    assert parse_it(b'{"title": "Hello", "content": "x"}', "noname").format == "json"
    assert parse_it(b"BM is a short text", "a.txt").format == "text"


def test_limits(parse_it: Parse) -> None:
    with pytest.raises(TooLarge, match="limit is 10"):
        parse_it(b"x" * 11, "a.txt", max_bytes=10)
    with pytest.raises(TooLarge, match="unpacks to more than"):
        parse_it(
            zipped(**{"[Content_Types].xml": b"", "word__document.xml": b" " * 3_000_000}),
            "a.docx",
            max_unpacked_bytes=1_048_576,
        )
    with pytest.raises(TooLarge, match="rows"):
        parse_it(b"a,b\n" + b"1,2\n" * 50, "a.csv", max_rows=20)
    for name in ("a.txt", "a.md"):
        with pytest.raises(TooLarge, match="more than 9 lines; split it"):
            parse_it(b"a\n" * 10, name, max_lines=9)
    for data, name in (
        (b"[1,1,1,1,1,1,1,1,1,1]", "a.json"),
        (b"<html>" + b"<p>a" * 10, "a.html"),
        (word_file(lambda document: [document.add_paragraph("a") for _ in range(10)]), "a.docx"),
    ):
        with pytest.raises(TooLarge, match="more than 9 lines"):
            parse_it(data, name, max_lines=9)
    with pytest.raises(TooLarge, match="characters"):
        parse_it(b"word " * 100, "a.txt", max_characters=100)
    book = openpyxl.Workbook()
    book.create_sheet("two")
    out = io.BytesIO()
    book.save(out)
    with pytest.raises(TooManyPages, match="2 sheets"):
        parse_it(out.getvalue(), "a.xlsx", max_pages=1)


def test_format_names() -> None:
    assert FORMATS == ("pdf", "html", "docx", "xlsx", "pptx", "csv", "json", "markdown", "text")


def test_entities_are_not_expanded(parse_it: Parse) -> None:
    laughs = (
        '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "'
        + "&a;" * 50
        + '"><!ENTITY c "'
        + "&b;" * 50
        + '">]><html><body><p>&c;</p><p>text</p></body></html>'
    )
    parsed = parse_it(laughs.encode(), "a.xml")
    assert sum(len(page.text) for page in parsed.pages) < 1000

    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(word_file(lambda d: d.add_paragraph("x")))) as old,
        zipfile.ZipFile(out, "w") as new,
    ):
        for part in old.namelist():
            data = old.read(part)
            new.writestr(part, b'<!DOCTYPE x [<!ENTITY a "b">]>' + data if part == "word/document.xml" else data)
    with pytest.raises(Unreadable, match="entities"):
        parse_it(out.getvalue(), "a.docx")


_TYPE = '<!DOCTYPE w [<!ENTITY a "aaaaaaaaaa">]>'
_BODY = '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body/></w:document>'


@pytest.mark.parametrize(
    "part",
    [
        f"{_TYPE}{_BODY}".encode(),
        f"<!-- a comment -->{_TYPE}{_BODY}".encode(),
        f"<!--{'x' * 100_000}-->{_TYPE}{_BODY}".encode(),
        f"{' ' * 5000}{_TYPE}{_BODY}".encode(),
        f"<?xml version='1.0'?>\n<?other thing?>{_TYPE}{_BODY}".encode(),
        f"\ufeff{_TYPE}{_BODY}".encode(),
        f"{_TYPE}{_BODY}".encode("utf-16"),
        f"\ufeff{_TYPE}{_BODY}".encode("utf-16-be"),
        f"<?xml version='1.0' encoding='utf-32'?>{_TYPE}{_BODY}".encode("utf-32"),
        f"<?xml version='1.0' encoding='utf-32be'?>{_TYPE}{_BODY}".encode("utf-32-be"),
    ],
)
@pytest.mark.parametrize("name", ["word/document.xml", "word/anything.bin"])
def test_a_document_type_is_refused_whatever_stands_before_it(parse_it: Parse, part: bytes, name: str) -> None:
    whole = word_file(lambda d: d.add_paragraph("Hello there."))
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(out, "w") as new:
        for kept in set(old.namelist()) - {name}:
            new.writestr(kept, old.read(kept))
        new.writestr(name, part)
    with pytest.raises(Unreadable, match="declares XML entities"):
        parse_it(out.getvalue(), "a.docx")


def test_records_with_keys_of_their_own_stay_small(parse_it: Parse) -> None:
    records = "\n".join(f'{{"key{number}": {number}}}' for number in range(20_000))
    tracemalloc.start()
    try:
        parsed = parse_it(records.encode(), "a.jsonl")
        assert tracemalloc.get_traced_memory()[1] < 200 * len(records) + 50_000_000
    finally:
        tracemalloc.stop()
    assert "key19999" in parsed.pages[-1].text


def test_an_embedded_picture_may_have_a_document_type(parse_it: Parse) -> None:
    out = io.BytesIO(word_file(lambda d: d.add_paragraph("Hello there.")))
    with zipfile.ZipFile(out, "a") as package:
        package.writestr("word/media/image1.svg", "<?xml version='1.0'?><!DOCTYPE svg><svg/>")
    assert "Hello there." in parse_it(out.getvalue(), "a.docx").pages[0].text
