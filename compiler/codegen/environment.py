"""The one Jinja environment: a template receives one frozen record, named ``kernel``, and computes nothing."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, lexer

from ...ops.locks import adopt

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"

ENVIRONMENT = Environment(
    loader=FileSystemLoader(TEMPLATES),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    line_statement_prefix="//%",
    keep_trailing_newline=True,
    autoescape=False,
)

for cache in (ENVIRONMENT.cache, lexer._lexer_cache):
    adopt(cache._wlock)  # type: ignore[union-attr]


def render(template_name: str, record: object) -> str:
    """The text of one template for one record."""
    return ENVIRONMENT.get_template(template_name).render(kernel=record)
