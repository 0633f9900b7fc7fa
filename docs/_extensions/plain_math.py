"""Formulas as MathML, which every browser draws by itself: no script is loaded, and none is needed."""

from __future__ import annotations

from docutils import nodes
from docutils.utils.math import latex2mathml


def _mathml(source: str, block: bool) -> str:
    return latex2mathml.tex2mathml(source, as_block=block)


def inline(writer, node: nodes.math) -> None:
    """Write a formula within a sentence."""
    writer.body.append(_mathml(node.astext(), block=False))
    raise nodes.SkipNode


def display(writer, node: nodes.math_block) -> None:
    """Write a formula on a line of its own."""
    writer.body.append(f'<div class="math">{_mathml(node.astext(), block=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    """Register the renderer and choose it."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
