"""Sphinx builds the documentation from this folder: make docs. Nothing is fetched, and a warning is an error."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from sphinx_gallery.sorting import ExplicitOrder

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))
os.environ.setdefault("MPLBACKEND", "Agg")

import askgraph

project, author = "askgraph", "the authors of askgraph"
release = version = askgraph.__version__
copyright = "the authors of askgraph, BSD-3-Clause"

extensions = [
    "myst_parser",
    "numpydoc",
    "plain_math",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "tutorials"]
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["askgraph.css"]
html_js_files = [("sort.js", {"defer": "defer"})]

myst_enable_extensions = ["attrs_inline", "colon_fence", "dollarmath"]
myst_heading_anchors = 4  # so that links to headings are checked

autosummary_generate = True
autodoc_typehints = "none"  # the sections of the docstrings have the types
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_validation_checks = {"GL03", "GL06", "GL07", "PR01", "PR02", "PR10", "RT03", "SS01"}
numpydoc_validation_exclude = {  # classes that others make for you: they document attributes, not parameters
    r"askgraph\.\w*Error$",
    r"askgraph\.(Choice|ErrorEstimate|Event|Field|Guesses|Judge|Labeling|OpenProject|Project|Question|Readout|ShardedGraph|SpotCheck|Step|Turn)$",
    r"askgraph\.(GuessSource|Suspect|SuspectGuess)$",
    r"askgraph\.(Cautious|Consensus|Map|Mass|Reweighted|Tempered|Votes)\.by_block$",  # Readout.by_block says what it takes
}

sphinx_gallery_conf = {
    "examples_dirs": "tutorials",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": ExplicitOrder(
        [
            "plot_papers.py",
            "plot_cells.py",
            "plot_accounts.py",
            "plot_tags.py",
            "plot_severity.py",
            "plot_patients.py",
            "plot_sensors.py",
            "plot_samplers.py",
        ]
    ),
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "plot_gallery": True,
    "abort_on_example_error": True,
    "remove_config_comments": True,
}

measured = (f"measured/{page.stem}" for page in sorted((Path(__file__).parent / "measured").glob("*.md")))
WIDE = ("equations", "paper/README", "petsc", "promises", *measured)  # pages with wide tables

html_theme = "pydata_sphinx_theme"
html_title = "askgraph"
html_show_sourcelink = False
html_sidebars = {"index": [], "is_this_for_me": []}
html_theme_options = {
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {  # pages with wide tables have no list of their headings beside them
        "**": ["page-toc"],
        **{name: [] for name in WIDE},
    },
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def _is_foreign(app, what, name, member, skip, options):
    """Leave out members that scikit-learn and Python bring, and what a learner asks of a kind; None leaves it to autodoc."""
    home = getattr(getattr(member, "fget", member), "__module__", None) or "askgraph"
    of_kind = name == "usual_readout" or (home.startswith("askgraph.kinds.") and callable(member))
    return True if of_kind or not home.startswith("askgraph") else None


def setup(app):
    """Register what this file adds."""
    app.connect("autodoc-skip-member", _is_foreign)
