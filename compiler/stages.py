"""The stages between a recorded graph and its C: imported for the first graph that is not in the cache."""

from .codegen.environment import render as render_template
from .codegen.render import number_of_units, render, render_units
from .passes.look_up_products import look_up_products
from .passes.simplify import simplify
from .schedule.cost import cost, places_of
from .schedule.plan import make_schedule

__all__ = [
    "cost",
    "look_up_products",
    "make_schedule",
    "number_of_units",
    "places_of",
    "render",
    "render_template",
    "render_units",
    "simplify",
]
