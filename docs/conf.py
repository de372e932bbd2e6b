"""Sphinx's settings: ``make docs`` builds docs/build/index.html. Pages of examples and of the API are made before."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import api_pages  # noqa: E402
import example_pages  # noqa: E402

project = "tracegrad"
author = "tracegrad authors"
extensions = ["myst_parser"]
exclude_patterns = ["build"]

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["width.css"]
html_title = "tracegrad"
html_theme_options = {"navigation_with_keys": True}
html_show_sphinx = False
html_show_copyright = False

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
default_role = "code"  # docstrings write names in single backticks, too

python_maximum_signature_line_length = 100
toc_object_entries = False  # hundreds of names a page
suppress_warnings = ["docutils"]  # docstrings are read as text first


def setup(app):
    app.connect("builder-inited", lambda app: example_pages.write(Path(app.srcdir)))
    app.connect("builder-inited", lambda app: api_pages.write(Path(app.srcdir)))
