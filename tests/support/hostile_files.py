# ruff: noqa: E501  # tables of spellings, a line each
"""Files made to cost a reader more than they cost their sender: each a name and a function that makes about so many bytes."""

from __future__ import annotations

import io
import json
import random
import zipfile
import zlib
from collections.abc import Callable

MB = 1_000_000
Make = Callable[[int], bytes]
"""Bytes of about the length that is asked for, or that unpack to about ten times as much."""


def fill(*pieces: str) -> Make:
    """The pieces, repeated."""
    body = "".join(pieces).encode()
    return lambda size: body * (size // len(body) + 1)


def numbered(piece: str, before: str = "", after: str = "") -> Make:
    """A piece with `{n}` in it, counted up."""

    def make(size: int) -> bytes:
        count = max(1, size // len(piece.format(n=100_000)))
        return (before + "".join(piece.format(n=n) for n in range(count)) + after).encode()

    return make


def around(before: str, piece: str, after: str) -> Make:
    """A piece, repeated, between two others."""
    return lambda size: (before + piece * (size // len(piece) + 1) + after).encode()


def _lengths(size: int) -> bytes:
    """Lines of every length, and many short ones."""
    lines, total, length = [], 0, 30
    while total < size // 2:
        lines.append("x" * length)
        total += length + 1
        length += 1
    return ("\n".join(lines) + "\n" + "y\n" * (size // 4)).encode()


def _random_letters(size: int) -> bytes:
    return bytes(random.Random(7).choices(range(0xC0, 0x100), k=size))  # a made-up text


def _sparse_records(size: int) -> bytes:
    count = max(2, size // 60)
    rows = [{f"k{n % 20}": 1, f"s{n % (count // 2)}": 2} for n in range(count)]
    return json.dumps(rows).encode()


def _wide_table(size: int) -> bytes:
    return (",".join(f"column {n}" for n in range(size // 24)) + "\n" + ",".join("1" * (size // 24)) + "\n").encode()


def _dated_statement(size: int) -> bytes:
    days = " ".join(f"January {1 + n % 28}, {1950 + n % 100}." for n in range(size // 36))
    head = "|".join(str(1950 + n % 100) for n in range(size // 20))
    body = "".join(f"|Total assets{n}|{'|'.join(['1,234'] * 4)}|\n" for n in range(size // 200))
    return f"# Form 10-K\n\nFor the fiscal year ended June 30, 2023\n\n{days}\n\n## CONSOLIDATED BALANCE SHEETS\n\n|a|{head}|\n|---|---|\n{body}".encode()


def _statement_rows(size: int) -> bytes:
    rows = "".join("<tr><td>2022<td>December 31, 2023<td>Three Months Ended<td>2021</tr>" for _ in range(size // 70))
    return f"<h1>Form 10-K</h1><h2>CONSOLIDATED STATEMENTS OF INCOME</h2><table>{rows}<tr><td>x<td>1<td>2<td>3</tr></table>".encode()


def _tags(size: int) -> bytes:
    """Tagged figures that stand in no order that the text knows."""
    context = (
        "<ix:header><xbrli:context id=c><xbrli:period><xbrli:instant>2023-06-30</xbrli:instant></xbrli:period>"
        "</xbrli:context></ix:header>"
    )
    each = size // 160
    tags = "".join(
        f"<p><ix:nonFraction name=a:b contextRef=c>{0 if n % 2 else n}</ix:nonFraction></p>" for n in range(each)
    )
    words = "".join(f"<p>0 {n + 7_000_000}</p>" for n in range(each))
    return f"<html><body>{context}<div>{words}</div>{tags}</body></html>".encode()


def package(parts: dict[str, bytes]) -> bytes:
    """A ZIP file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as held:
        for name, data in parts.items():
            held.writestr(name, data)
    return out.getvalue()


_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELS = "http://schemas.openxmlformats.org/package/2006/relationships"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"


def word(body: Callable[[int], str], styles: Callable[[int], str] | None = None) -> Make:
    """A DOCX whose body has ten times the bytes asked for."""

    def make(size: int) -> bytes:
        kind = "application/vnd.openxmlformats-officedocument.wordprocessingml"
        overrides = f'<Override PartName="/word/document.xml" ContentType="{kind}.document.main+xml"/>'
        rels = ""
        parts = {}
        if styles is not None:
            overrides += f'<Override PartName="/word/styles.xml" ContentType="{kind}.styles+xml"/>'
            rels = f'<Relationship Id="rId1" Type="{_OFFICE}/styles" Target="styles.xml"/>'
            parts["word/styles.xml"] = f"<w:styles {_W}>{styles(size)}</w:styles>".encode()
        parts |= {
            "[Content_Types].xml": f'<Types xmlns="{_TYPES}"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>{overrides}</Types>'.encode(),
            "_rels/.rels": f'<Relationships xmlns="{_RELS}"><Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>'.encode(),
            "word/_rels/document.xml.rels": f'<Relationships xmlns="{_RELS}">{rels}</Relationships>'.encode(),
            "word/document.xml": f"<w:document {_W}><w:body>{body(size)}</w:body></w:document>".encode(),
        }
        return package(parts)

    return make


def repeated(piece: str, times: int = 10) -> Callable[[int], str]:
    """So many times the bytes asked for."""
    return lambda size: piece * (times * size // len(piece) + 1)


def _merged_rows(size: int) -> str:
    one = "<w:tr><w:tc><w:tcPr><w:vMerge{}/></w:tcPr><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>1</w:t></w:r></w:p></w:tc></w:tr>"
    rows = one.format(' w:val="restart"') + one.format("") * (10 * size // len(one))
    return f"<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid>{rows}</w:tbl>"


def _wide_row(size: int) -> str:
    cell = "<w:tc><w:p><w:r><w:t>1</w:t></w:r></w:p></w:tc>"
    return f"<w:tbl><w:tblPr/><w:tblGrid/><w:tr>{cell * (10 * size // len(cell))}</w:tr></w:tbl>"


def _styled(size: int) -> str:
    one = '<w:p><w:pPr><w:pStyle w:val="s{}"/></w:pPr><w:r><w:t>Words of it</w:t></w:r></w:p>'
    return "".join(one.format(n % 5000) for n in range(5 * size // len(one)))


def _styles(size: int) -> str:
    one = '<w:style w:type="paragraph" w:styleId="s{}"><w:name w:val="Style {}"/></w:style>'
    return "".join(one.format(n, n) for n in range(min(5000, 5 * size // len(one))))


_S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def sheet(body: Callable[[int], str], strings: Callable[[int], str] | None = None) -> Make:
    """An XLSX whose sheet has ten times the bytes asked for."""

    def make(size: int) -> bytes:
        kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
        overrides = (
            f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
            f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/>'
        )
        rels = f'<Relationship Id="rId1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
        parts = {}
        if strings is not None:
            overrides += f'<Override PartName="/xl/sharedStrings.xml" ContentType="{kind}.sharedStrings+xml"/>'
            rels += f'<Relationship Id="rId2" Type="{_OFFICE}/sharedStrings" Target="sharedStrings.xml"/>'
            parts["xl/sharedStrings.xml"] = f"<sst {_S}>{strings(size)}</sst>".encode()
        parts |= {
            "[Content_Types].xml": f'<Types xmlns="{_TYPES}"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>{overrides}</Types>'.encode(),
            "_rels/.rels": f'<Relationships xmlns="{_RELS}"><Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>'.encode(),
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_RELS}">{rels}</Relationships>'.encode(),
            "xl/workbook.xml": f'<workbook {_S} xmlns:r="{_OFFICE}"><sheets><sheet name="a" sheetId="1" r:id="rId1"/></sheets></workbook>'.encode(),
            "xl/worksheets/sheet1.xml": f"<worksheet {_S}>{body(size)}</worksheet>".encode(),
        }
        return package(parts)

    return make


def _data(rows: str) -> str:
    return f"<sheetData>{rows}</sheetData>"


def _rows(size: int) -> str:
    one = '<row><c><v>1</v></c><c t="str"><v>a</v></c></row>'
    return _data(one * (10 * size // len(one)))


def _columns(size: int) -> str:
    return _data(f"<row>{'<c><v>1</v></c>' * (10 * size // 15)}</row>")


def _corner(size: int) -> str:
    return _data('<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>7</v></c></row>')


def _merges(size: int) -> str:
    one = '<mergeCell ref="A{0}:B{0}"/>'
    cells = "".join(one.format(n + 1) for n in range(10 * size // 28))
    return _data("<row><c><v>1</v></c></row>") + f"<mergeCells>{cells}</mergeCells>"


def _formats(size: int) -> str:
    one = '<conditionalFormatting sqref="A1"><cfRule type="cellIs" priority="1" operator="equal"><formula>1</formula></cfRule></conditionalFormatting>'
    return _data("<row><c><v>1</v></c></row>") + one * (10 * size // len(one))


def _shared(size: int) -> str:
    one = '<row><c t="s"><v>{}</v></c></row>'
    return _data("".join(one.format(n) for n in range(5 * size // 36)))


def _strings(size: int) -> str:
    return "".join(f"<si><t>s{n}</t></si>" for n in range(5 * size // 22))


def slides(shapes: Callable[[int], str], chart: Callable[[int], str] | None = None) -> Make:
    """A PPTX of one slide."""

    def make(size: int) -> bytes:
        from pptx import Presentation  # only here
        from pptx.chart.data import CategoryChartData
        from pptx.enum.chart import XL_CHART_TYPE
        from pptx.util import Inches

        deck = Presentation()
        slide = deck.slides.add_slide(deck.slide_layouts[5])
        slide.shapes.title.text = "A slide"
        if chart is not None:
            data = CategoryChartData()
            data.categories = ["a", "b"]
            data.add_series("s", (1, 2))
            slide.shapes.add_chart(XL_CHART_TYPE.LINE, Inches(1), Inches(1), Inches(4), Inches(4), data)
        out = io.BytesIO()
        deck.save(out)
        parts = {}
        with zipfile.ZipFile(out) as old:
            for name in old.namelist():
                held = old.read(name)
                if name == "ppt/slides/slide1.xml":
                    held = held.replace(b"</p:spTree>", shapes(size).encode() + b"</p:spTree>")
                if chart is not None and name.startswith("ppt/charts/chart"):
                    held = held.replace(b'<c:ptCount val="2"/>', chart(size).encode())
                parts[name] = held
        return package(parts)

    return make


def _shape(inside: str, number: int = 9) -> str:
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="{number}" name="x"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/>'
        f"<p:txBody><a:bodyPr/>{inside}</p:txBody></p:sp>"
    )


def _shapes(size: int) -> str:
    one = _shape("<a:p><a:r><a:t>Words</a:t></a:r></a:p>")
    return one * (10 * size // len(one))


def _titles(size: int) -> str:
    one = (
        '<p:sp><p:nvSpPr><p:cNvPr id="9" name="x"/><p:cNvSpPr/><p:nvPr><p:ph type="body" idx="7"/></p:nvPr></p:nvSpPr>'
        "<p:spPr/><p:txBody><a:bodyPr/><a:p><a:r><a:t>Words</a:t></a:r></a:p></p:txBody></p:sp>"
    )
    return one * (10 * size // len(one))


def pdf(content: Callable[[int], bytes], page: str = "/MediaBox [0 0 612 792]", pages: int = 1, more: str = "") -> Make:
    """A PDF whose pages all have one content of ten times the bytes asked for."""

    def make(size: int) -> bytes:
        stream = zlib.compress(content(size), 9)
        kids = " ".join(f"{10 + n} 0 R" for n in range(pages))
        objects = {
            1: b"<</Type/Catalog/Pages 2 0 R>>",
            2: f"<</Type/Pages/Count {pages}/Kids [{kids}]>>".encode(),
            3: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
            4: f"<</Length {len(stream)}/Filter/FlateDecode>>stream\n".encode() + stream + b"\nendstream",
        }
        for n in range(pages):
            objects[10 + n] = (
                f"<</Type/Page/Parent 2 0 R {page}/Resources<</Font<</F 3 0 R>>{more}>>/Contents 4 0 R>>".encode()
            )
        return pdf_of(objects)

    return make


def pdf_of(objects: dict[int, bytes]) -> bytes:
    """Objects by number, 1 the catalogue."""
    out = bytearray(b"%PDF-1.7\n")
    at = {}
    for number, body in objects.items():
        at[number] = len(out)
        out += f"{number} 0 obj".encode() + body + b"endobj\n"
    start = len(out)
    out += b"xref\n"
    for number in sorted(at):
        out += f"{number} 1\n{at[number]:010d} 00000 n \n".encode()
    out += f"trailer<</Root 1 0 R/Size {max(objects) + 1}>>\nstartxref\n{start}\n%%EOF".encode()
    return bytes(out)


def _texts(size: int) -> bytes:
    return (
        b"BT /F 10 Tf "
        + b"".join(
            f"1 0 0 1 {10 + n % 50 * 12} {780 - n // 50 % 70 * 11} Tm (word{n}) Tj ".encode()
            for n in range(10 * size // 40)
        )
        + b"ET"
    )


def _one_line(size: int) -> bytes:
    return b"BT /F 1 Tf 10 700 Td " + b"(word ) Tj " * (10 * size // 11) + b"ET"


def _one_row(size: int) -> bytes:
    two = [
        b"".join(f"BT /F 1 Tf {n * 9} {y} Td (a1) Tj ET ".encode() for n in range(5 * size // 34)) for y in (700, 690)
    ]
    return b"".join(two)


def _lines(size: int) -> bytes:
    return (
        b"BT /F 1 Tf 10 14000 Td "
        + b"(Label of a row) Tj 200 0 Td (12) Tj -200 -2 Td (text) Tj 0 -2 Td " * (10 * size // 72)
        + b"ET"
    )


def _forms(size: int) -> bytes:
    """Forms that each draw the next one ten times."""
    objects = {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        2: b"<</Type/Pages/Count 1/Kids [5 0 R]>>",
        3: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        4: b"<</Length 6>>stream\n/X Do \nendstream",
        5: b"<</Type/Page/Parent 2 0 R/MediaBox [0 0 612 792]/Resources<</XObject<</X 10 0 R>>>>/Contents 4 0 R>>",
    }
    for n in range(10, 18):
        body = b"/X Do " * 10 if n < 17 else b"BT /F 9 Tf 9 9 Td (words of it) Tj ET"
        next_one = f"/XObject<</X {n + 1} 0 R>>" if n < 17 else ""
        objects[n] = (
            f"<</Type/XObject/Subtype/Form/BBox [0 0 612 792]/Resources<<{next_one}/Font<</F 3 0 R>>>>/Length {len(body)}>>stream\n".encode()
            + body
            + b"\nendstream"
        )
    return pdf_of(objects)


def _deep_pages(size: int) -> bytes:
    """A tree of pages as deep as the bytes allow."""
    depth = size // 80
    objects = {1: b"<</Type/Catalog/Pages 2 0 R>>"}
    for n in range(2, depth + 2):
        objects[n] = f"<</Type/Pages/Count 1/Parent {n - 1} 0 R/Kids [{n + 1} 0 R]>>".encode()
    objects[depth + 2] = f"<</Type/Page/Parent {depth + 1} 0 R/MediaBox [0 0 9 9]>>".encode()
    return pdf_of(objects)


def _named_deep(size: int) -> bytes:
    return b"%PDF-1.7\n1 0 obj" + b"[" * (size // 2) + b"]" * (size // 2) + b"endobj\ntrailer<</Root 1 0 R>>\n%%EOF"


FILES: dict[str, tuple[str, Make]] = {
    # text
    "$ and spaces": ("a.txt", fill("$ ")),
    "$ and runs of spaces": ("a.txt", fill("$", " " * 40, "(", " " * 40)),
    "one line of $ and brackets": ("a.txt", fill("$($")),
    "short lines": ("a.txt", fill("a\n")),
    "short lines that differ": ("a.txt", numbered("row {n}\n")),
    "lines of one length": ("a.txt", fill("word " * 12 + "\n")),
    "lines of every length": ("a.txt", _lengths),
    "one line": ("a.txt", fill("word ")),
    "one word": ("a.txt", fill("x")),
    "leaders": ("a.txt", fill(". " * 30, "a")),
    "figures": ("a.txt", fill("1 ")),
    "digits on pages": ("a.txt", fill("9" * 6000, "\n\f")),
    "form feeds": ("a.txt", fill("a\f")),
    "letters that grow (U+FDFA)": ("a.txt", fill("\ufdfa ")),
    "compatibility letters": ("a.txt", fill("\ufb03\uff21\u2f00")),
    "Chinese without a space": ("a.txt", fill("收入和利润")),
    "quotes and stops": ("a.txt", fill('."', "’)")),
    "UTF-16": ("a.txt", lambda size: ("word $1 \n" * (size // 18)).encode("utf-16")),
    "UTF-32": ("a.txt", lambda size: ("word $1 \n" * (size // 36)).encode("utf-32")),
    "NULs after a while": ("a.txt", lambda size: b"word " * 20_000 + b"\x00" * size),
    "random letters of a code page": ("a.txt", _random_letters),
    "declared as punycode": ("a.html", lambda size: b"<html charset=punycode>" + b"\xff\xfea-" * (size // 4)),
    "declared as undefined": ("a.html", lambda size: b"<html charset=undefined>" + b"\xff\xe9a " * (size // 4)),
    # Markdown
    "nested quotes": ("a.md", fill("> " * 500, "a\n")),
    "emphasis": ("a.md", fill("**a ", "*b ")),
    "emphasis without end": ("a.md", fill("a**b`c__d~~")),
    "stars": ("a.md", fill("*")),
    "links": ("a.md", fill("[a](b ")),
    "brackets": ("a.md", fill("[")),
    "images in links": ("a.md", fill("[![a](")),
    "Markdown tables": ("a.md", fill("|a|b|\n|--|--|\n")),
    "one Markdown row": ("a.md", around("|a|b|\n|--|--|\n|", "a|", "\n")),
    "dashes": ("a.md", fill("- ")),
    "headings": ("a.md", fill("# a\n")),
    "headings above a table": ("a.md", around("", "## a\n", "|a|b|\n|--|--|\n|1|2|\n")),
    "sections under a long heading": ("a.md", lambda s: b"# " + b"h" * (s // 2) + b"\n" + b"## a\nb\n" * (s // 14)),
    "HTML in Markdown": ("a.md", fill("<div><b>")),
    "front matter without end": ("a.md", around("---\n", "title: a\n", "")),
    "dates and columns of a statement": ("a.md", _dated_statement),
    # JSON
    "records of keys of their own": ("a.jsonl", numbered('{{"key{n}": {n}}}\n')),
    "sparse records": ("a.json", _sparse_records),
    "empty lists": ("a.json", around("[", "[],", "[]]")),
    "empty objects": ("a.json", around("[", "{},", "{}]")),
    "deep JSON": ("a.json", lambda s: b"[" * (s // 2) + b"]" * (s // 2)),
    "deep JSON objects": ("a.json", lambda s: b'{"a":' * (s // 6) + b"1" + b"}" * (s // 6)),
    "a long number": ("a.json", around("[1", "0", "]")),
    "numbers": ("a.json", around("[", "1,", "1]")),
    "one key": ("a.json", around('{"', "k", '": 1}')),
    "keys of one object": ("a.json", numbered('"k{n}": 1,', "{", '"z": 1}')),
    "lists that look like rows": (
        "a.json",
        around("[", '{"page": 1, "text": "[[[[1]]]]"},', '{"page": 1, "text": "a"}]'),
    ),
    "surrogates": ("a.json", around('["', "\\ud800", '"]')),
    # HTML and XML
    "attributes": ("a.html", numbered(" a{n}=1", "<p", ">words</p>")),
    "attributes of XML": ("a.xml", numbered(' a{n}="1"', "<?xml version='1.0'?><p", ">words</p>")),
    "one attribute again": ("a.html", around("<p", " a=1", ">words</p>")),
    "deep HTML": ("a.html", around("", "<div>", "words")),
    "deep tables": ("a.html", fill("<table><tr><td>" * 70, "a", "</td></tr></table>" * 70)),
    "open tables": ("a.html", around("", "<table><tr><td>", "words")),
    "open formats": ("a.html", around("", "<b><i>", "words")),
    "fonts over paragraphs": ("a.html", fill("<p><font>a")),
    "frames and articles": ("a.html", fill("<nav>a</nav><article>b</article>")),
    "a web page of paragraphs": ("a.html", around("<article>", "<p>Words of it.</p>", "</article>")),
    "a web page of links": ("a.html", around("<nav></nav><main>", "<a href=b>c</a> ", "</main>")),
    "a web page of lists": ("a.html", around("<nav></nav><main>", "<ul><li>a</li></ul>", "</main>")),
    "a web page of breaks": ("a.html", around("<nav></nav><main><p>", "a<br>", "</p></main>")),
    "a web page of spans": ("a.html", around("<nav></nav><main>", "<div><span>a</span></div>", "</main>")),
    "lines in a cell": ("a.html", around("<table><tr><td>", "a\n", "</td><td>1</td></tr></table>")),
    "lines in a paragraph": ("a.html", around("<p>", "a b\n", "</p>")),
    "cells in a row": ("a.html", around("<table><tr>", "<td>1", "</table>")),
    "rows": ("a.html", around("<table>", "<tr><td>a<td>1", "</table>")),
    "scripts without end": ("a.html", fill("<script>")),
    "comments": ("a.html", fill("<!-- a -->")),
    "comments without end": ("a.html", fill("<!--")),
    "entities": ("a.html", fill("&amp;&#x41;")),
    "metas": ("a.html", around("<head>", "<meta name=date content='1 May 2020'>", "</head>words")),
    "rows of a statement that are all heads": ("a.html", _statement_rows),
    "tags in no order": ("a.html", _tags),
    # CSV
    "CSV of one line": ("a.csv", fill("word ")),
    "CSV of one column": ("a.csv", fill("1\n")),
    "CSV of many columns": ("a.csv", _wide_table),
    "CSV of quotes": ("a.csv", fill(',"')),
    "CSV of quotes and lines": ("a.csv", fill('"a\n')),
    "CSV of other quotes": ("a.csv", fill(" '", ',"', "x")),
    # Office
    "empty paragraphs": ("a.docx", word(repeated("<w:p/>"))),
    "empty runs": ("a.docx", word(lambda s: f"<w:p>{'<w:r/>' * (10 * s // 6)}<w:r><w:t>a</w:t></w:r></w:p>")),
    "paragraphs of many styles": ("a.docx", word(_styled, _styles)),
    "rows merged downwards": ("a.docx", word(_merged_rows)),
    "cells of a Word table": ("a.docx", word(_wide_row)),
    "deep Word tables": (
        "a.docx",
        word(lambda s: "<w:tbl><w:tr><w:tc>" * (10 * s // 60) + "</w:tc></w:tr></w:tbl>" * (10 * s // 60)),
    ),
    "a part of nothing": (
        "a.docx",
        lambda s: package({"[Content_Types].xml": b"<a/>", "word/document.xml": b"<!--" + b" " * (100 * s)}),
    ),
    "parts": (
        "a.docx",
        lambda s: package({"[Content_Types].xml": b"<a/>", **{f"word/{n}": b"<a/>" for n in range(s // 110)}}),
    ),
    "a million rows": ("a.xlsx", sheet(_rows)),
    "a million columns": ("a.xlsx", sheet(_columns)),
    "a cell at the far corner": ("a.xlsx", sheet(_corner)),
    "merged cells": ("a.xlsx", sheet(_merges)),
    "conditional formats": ("a.xlsx", sheet(_formats)),
    "shared strings": ("a.xlsx", sheet(_shared, _strings)),
    "empty paragraphs of a slide": ("a.pptx", slides(lambda s: _shape("<a:p/>" * (10 * s // 6)))),
    "shapes": ("a.pptx", slides(_shapes)),
    "placeholders": ("a.pptx", slides(_titles)),
    "a chart that claims a billion points": ("a.pptx", slides(lambda s: "", lambda s: '<c:ptCount val="1000000000"/>')),
    # PDF
    "texts": ("a.pdf", pdf(_texts)),
    "texts on a giant page": ("a.pdf", pdf(_texts, "/MediaBox [0 0 99999999 99999999]")),
    "a line of words": ("a.pdf", pdf(_one_line, "/MediaBox [0 0 9999999 792]")),
    "two rows of cells": ("a.pdf", pdf(_one_row, "/MediaBox [0 0 9999999 792]")),
    "rows and text in turn": ("a.pdf", pdf(_lines, "/MediaBox [0 0 14400 14400]")),
    "many pages": ("a.pdf", lambda s: pdf(lambda _: b"BT /F 9 Tf 9 9 Td (words of it) Tj ET", pages=s // 130)(s)),
    "forms of forms": ("a.pdf", _forms),
    "a deep tree of pages": ("a.pdf", _deep_pages),
    "deep arrays": ("a.pdf", _named_deep),
}
