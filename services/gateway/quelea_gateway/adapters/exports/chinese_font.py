"""The characters of a PDF that no reader's own fonts have: a font of exactly those, made for the document and embedded.

Noto Sans SC (SIL Open Font License 1.1) has cubic outlines, which reportlab does not take; those of the characters that
are used are turned to quadratic ones (fontTools). What the font does not have is shown as a box.
"""

from __future__ import annotations

import io
import itertools
import string
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from xml.sax.saxutils import escape

from fontTools import subset
from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont as SourceFont
from fontTools.ttLib import newTable
from pylopdf_fonts_zh_cn import sans_path
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont

CHINESE = "QueleaChinese"
_MOST_ERROR = 1.0
"""Units of the font (1000 to its size) by which an outline may differ."""
_UNUSED = ["GSUB", "GPOS", "GDEF", "BASE", "VORG", "vhea", "vmtx", "DSIG"]
_ZERO = (
    "maxTwilightPoints", "maxStorage", "maxFunctionDefs", "maxInstructionDefs", "maxStackElements",
    "maxSizeOfInstructions", "maxComponentElements", "maxPoints", "maxContours", "maxCompositePoints",
    "maxCompositeContours", "maxComponentDepth",
)  # fmt: skip
_one_at_a_time = threading.Lock()


@contextmanager
def font_for(*texts: str) -> Iterator[None]:
    """The font CHINESE with the characters of these texts, while a document is built.

    reportlab knows fonts by name for the whole process: one document at a time.
    """
    foreign = {char for text in texts for char in text if not is_latin(char) and char.isprintable()}
    # With the letters and digits of a label that is set in one font.
    characters = "".join(sorted(foreign)) + (string.printable if foreign else "")
    with _one_at_a_time:
        font = TTFont(CHINESE, io.BytesIO(_subset(characters or " ")))
        pdfmetrics.registerFont(font)
        try:
            yield
        finally:
            # registerFont keeps the first of a name and of a face for ever, and there is no call to take one back.
            pdfmetrics._fonts.pop(CHINESE, None)  # type: ignore[attr-defined]  # private, so without a stub
            pdfmetrics._dynFaceNames.pop(font.face.name, None)  # type: ignore[attr-defined]  # as above


def is_latin(char: str) -> bool:
    """Whether the fonts of every reader have it."""
    try:
        char.encode("cp1252")
    except UnicodeEncodeError:
        return False
    return True


def plain(text: str) -> str:
    """Without what cannot be printed."""
    return "".join(char for char in text if char in "\n\t" or char.isprintable())


def markup(text: str, size: float = 0.0) -> str:
    """Text as reportlab's markup, with what is not Latin in the font CHINESE."""
    parts = []
    for latin, run in itertools.groupby(text, is_latin):
        escaped = escape("".join(run))
        more = f' size="{size:g}"' if size else ""
        parts.append(escaped if latin else f'<font name="{CHINESE}"{more}>{escaped}</font>')
    return "".join(parts)


def _subset(characters: str) -> bytes:
    font = SourceFont(sans_path(), lazy=True)
    options = subset.Options(
        layout_features=[], name_IDs=[1, 2, 4, 6], notdef_outline=True, hinting=False, desubroutinize=True
    )
    options.drop_tables += _UNUSED
    subsetter = subset.Subsetter(options)
    subsetter.populate(text=characters)
    subsetter.subset(font)
    _turn_quadratic(font)
    out = io.BytesIO()
    font.save(out)
    return out.getvalue()


def _turn_quadratic(font: SourceFont) -> None:
    """CFF outlines to TrueType's."""
    order, outlines = font.getGlyphOrder(), font.getGlyphSet()
    glyf = newTable("glyf")
    glyf.glyphOrder, glyf.glyphs = order, {}
    for name in order:
        pen = TTGlyphPen(None)
        outlines[name].draw(Cu2QuPen(pen, _MOST_ERROR, reverse_direction=True))
        glyf.glyphs[name] = pen.glyph()
    font["glyf"], font["loca"] = glyf, newTable("loca")
    del font["CFF "]
    maxp = font["maxp"]
    maxp.tableVersion, maxp.maxZones = 0x00010000, 1
    for name in _ZERO:
        setattr(maxp, name, 0)
    for glyph in glyf.glyphs.values():
        glyph.recalcBounds(glyf)
    font["post"].formatType, font["post"].mapping, font["post"].extraNames = 3.0, {}, []
    font.sfntVersion = "\x00\x01\x00\x00"
