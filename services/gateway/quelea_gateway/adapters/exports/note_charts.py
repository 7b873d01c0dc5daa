"""A note's charts: drawn once by reportlab, as they are in a PDF, as pictures in a DOCX."""

from __future__ import annotations

import io

import pypdfium2
from reportlab.graphics import renderPDF
from reportlab.graphics.charts.barcharts import VerticalBarChart
from reportlab.graphics.charts.legends import Legend
from reportlab.graphics.shapes import Drawing, String
from reportlab.lib.colors import HexColor
from reportlab.pdfgen.canvas import Canvas

from quelea_gateway.adapters.exports.chinese_font import CHINESE, is_latin
from quelea_gateway.core.answers.note import Chart

WIDTH, HEIGHT = 460.0, 190.0
"""Points."""
_COLOURS = [HexColor(one) for one in ("#1f4e79", "#c55a11", "#548235", "#7f6000", "#7030a0", "#7f7f7f")]
_MOST_LABEL = 60
_WHOLE = 1000
"""From here on a bar is labelled without decimals."""


def draw(chart: Chart) -> Drawing:
    """The chart. The font CHINESE must be there: `font_for`."""
    drawing = Drawing(WIDTH, HEIGHT)
    bars = VerticalBarChart()
    bars.x, bars.y, bars.width, bars.height = 60, 42, int(WIDTH) - 80, int(HEIGHT) - 74
    bars.data = [list(values) for _, values in chart.series]
    bars.categoryAxis.categoryNames = list(chart.categories)
    bars.categoryAxis.labels.fontName = "Helvetica"
    bars.categoryAxis.labels.fontSize = bars.valueAxis.labels.fontSize = 8
    bars.categoryAxis.strokeColor = bars.valueAxis.strokeColor = HexColor("#888888")
    bars.valueAxis.labelTextFormat = _tick
    bars.valueAxis.forceZero = True
    bars.valueAxis.visibleGrid = True
    bars.valueAxis.gridStrokeColor = HexColor("#dddddd")
    bars.groupSpacing = 10
    most = max((abs(value) for _, values in chart.series for value in values if value is not None), default=1.0)
    bars.barLabelFormat = "%.0f" if most >= _WHOLE else "%.1f"
    bars.barLabels.fontSize, bars.barLabels.nudge = 7, 7
    for index in range(len(chart.series)):
        bars.bars[index].fillColor = _COLOURS[index % len(_COLOURS)]
        bars.bars[index].strokeColor = None
    drawing.add(bars)
    title = f"{chart.title} ({chart.unit})"[:_MOST_LABEL]
    drawing.add(String(0, HEIGHT - 14, title, fontName=_font(title), fontSize=10, fillColor=HexColor("#222222")))
    drawing.add(_legend(chart))
    return drawing


def _legend(chart: Chart) -> Legend:
    names = [name[:_MOST_LABEL] for name, _ in chart.series]
    legend = Legend()
    legend.x, legend.y, legend.boxAnchor = 60, 4, "sw"
    legend.columnMaximum, legend.alignment = 1, "right"
    legend.strokeWidth = 0
    legend.dx = legend.dy = 7
    legend.deltax, legend.dxTextSpace, legend.fontSize = 20, 4, 8
    legend.fontName = CHINESE if any(_font(name) == CHINESE for name in names) else "Helvetica"
    legend.colorNamePairs = [(_COLOURS[n % len(_COLOURS)], name) for n, name in enumerate(names)]
    return legend


def _font(text: str) -> str:
    return "Helvetica-Bold" if all(map(is_latin, text)) else CHINESE


def _tick(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def as_png(drawing: Drawing, scale: float = 3.0) -> bytes:
    """The drawing as a picture of `scale` pixels a point."""
    page = io.BytesIO()
    canvas = Canvas(page, pagesize=(drawing.width, drawing.height))
    renderPDF.draw(drawing, canvas, 0, 0)
    canvas.save()
    document = pypdfium2.PdfDocument(page.getvalue())
    try:
        picture = io.BytesIO()
        document[0].render(scale=scale).to_pil().save(picture, "PNG")
    finally:
        document.close()
    return picture.getvalue()
