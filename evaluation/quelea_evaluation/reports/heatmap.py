"""Topics × tasks as a picture and as a table of a page; the same colours in both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

Values = Mapping[tuple[str, str], float]


def draw_heatmap(path: Path, title: str, rows: Sequence[str], columns: Sequence[str], values: Values) -> None:
    """A PNG; a cell without a value stays grey.

    Args:
        rows: Their labels, from above; in Latin letters, for the font has no others.
        values: Row and column label → 0 to 1.
    """
    import numpy as np  # noqa: PLC0415  # with matplotlib, only where a picture is wanted
    from matplotlib import colormaps  # noqa: PLC0415  # see above
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415  # see above
    from matplotlib.figure import Figure  # noqa: PLC0415  # see above

    grid = np.array([[values.get((row, column), np.nan) for column in columns] for row in rows], dtype=float)
    width, height = 3.6 + 1.2 * len(columns), 1.6 + 0.32 * len(rows)
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    # Room for the labels in inches; a layout engine would take longer than the drawing.
    axes = figure.add_axes((3.4 / width, 1.0 / height, 1.2 * len(columns) / width, 0.32 * len(rows) / height))
    axes.imshow(
        np.ma.masked_invalid(grid),
        vmin=0,
        vmax=1,
        cmap=colormaps["viridis"].with_extremes(bad="#dddddd"),
        aspect="auto",
    )
    axes.set_xticks(range(len(columns)), columns, rotation=20, ha="right")
    axes.set_yticks(range(len(rows)), rows)
    for y, x in np.argwhere(~np.isnan(grid)):
        value = grid[y, x]
        axes.text(x, y, f"{value:.2f}", ha="center", va="center", color="white" if value < 0.6 else "black")
    axes.set_title(title)
    figure.savefig(path, dpi=110)


def colour_of(value: float, *, lower_is_better: bool) -> str:
    """Background of a cell on a page, red over yellow to green, light enough for black text."""
    share = min(1.0, max(0.0, 1 - value if lower_is_better else value))
    return f"hsl({share * 120:.0f} 65% 82%)"
