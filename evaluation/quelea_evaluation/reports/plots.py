"""Pictures without a display."""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure


def new_figure() -> tuple[Figure, Axes]:
    """An empty picture, 8 by 5 inches."""
    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    axes.grid(alpha=0.3)
    return figure, axes
