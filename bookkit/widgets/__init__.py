"""Figures that a reader moves: on a page without a kernel, and in a notebook.

A figure is a function that draws one picture, and the choices that a reader has. It is
called for every choice, by the notebook's kernel and with the reader's own functions;
a page gets all pictures at once, as one drawing and what changes in it, and a short
script that moves from one to the next.

So it needs no kernel, no library, no widget manager and no internet, and it is plain
HTML: the same output moves in the book, opened as a file, in JupyterLab and in VS Code,
and a test can compare it. A widget with a model of its own (anywidget, ipywidgets)
would need a manager's code on each page, and its Python would stand still there.
"""

from bookkit.widgets.moving import Moving, moving
from bookkit.widgets.pictures import (
    Picture,
    bars,
    clocks,
    grid,
    line_chart,
    side_by_side,
)

__all__ = [
    "Moving",
    "Picture",
    "bars",
    "clocks",
    "grid",
    "line_chart",
    "moving",
    "side_by_side",
]
