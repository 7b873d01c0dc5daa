"""Pictures without a display; matplotlib takes half a second to import, so only who draws imports this."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from matplotlib import colormaps, font_manager, rcParams
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

DPI = 110
_CHINESE = ("Noto Sans CJK SC", "Noto Serif CJK SC", "Source Han Sans SC", "WenQuanYi Micro Hei", "Microsoft YaHei")


def blank(width: float, height: float, layout: Literal["constrained"] | None = "constrained") -> Figure:
    """A picture without axes, so many inches, in a font that has Chinese where there is one."""
    known = set(font_manager.get_font_names())
    rcParams["font.family"] = ["DejaVu Sans", *(name for name in _CHINESE if name in known)]
    figure = Figure(figsize=(width, height), layout=layout)
    FigureCanvasAgg(figure)
    return figure


def new_figure(width: float = 8, height: float = 5) -> tuple[Figure, Axes]:
    """An empty picture with a grid."""
    figure = blank(width, height)
    axes = figure.add_subplot()
    axes.grid(alpha=0.3)
    return figure, axes


def as_png(figure: Figure) -> bytes:
    """The picture, cut to what is drawn."""
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=DPI, bbox_inches="tight")
    return out.getvalue()


def draw_heatmap(
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: Mapping[tuple[str, str], float],
    texts: Mapping[tuple[str, str], str] | None = None,
    *,
    legend: str = "",
    lower_is_better: bool = False,
) -> bytes:
    """Colours from 0 to 1 as PNG, bright where it is good; a cell without a value stays grey.

    Args:
        title: Above it.
        rows: Their labels, from above.
        columns: Theirs.
        values: Row and column label → 0 to 1.
        texts: What stands in a cell, where it is not the value; two lines where it has two.
        legend: Beside a bar of the colours; none where it is empty.
        lower_is_better: Low values are the bright ones.
    """
    high = 0.18 + 0.18 * max((text.count("\n") + 1 for text in (texts or {}).values()), default=1)
    grid = np.array([[values.get((row, column), np.nan) for column in columns] for row in rows], dtype=float)
    width, height = 3.6 + 1.2 * len(columns), 1.6 + high * len(rows)
    figure = blank(width, height, None)
    # Room for the labels in inches; a layout engine would take longer than the drawing.
    axes = figure.add_axes((3.4 / width, 1.0 / height, 1.2 * len(columns) / width, high * len(rows) / height))
    colours = colormaps["viridis_r" if lower_is_better else "viridis"].with_extremes(bad="#dddddd")
    image = axes.imshow(np.ma.masked_invalid(grid), vmin=0, vmax=1, cmap=colours, aspect="auto")
    axes.set_xticks(range(len(columns)), columns, rotation=20, ha="right")
    axes.set_yticks(range(len(rows)), rows)
    for y, x in np.argwhere(~np.isnan(grid)):
        value = grid[y, x]
        text = texts[rows[y], columns[x]] if texts else f"{value:.2f}"
        axes.text(
            x,
            y,
            text,
            ha="center",
            va="center",
            color="white" if (1 - value if lower_is_better else value) < 0.6 else "black",
        )
    axes.set_title(title)
    if legend:
        figure.colorbar(image, ax=axes, label=legend)
    return as_png(figure)
