"""Jinja environment for the HTML and Markdown templates: their location, shared wording and tests."""

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from assayer.models import Absent
from assayer.reports import citation_wording, graph_wording, plan_wording, reference_wording, wording
from assayer.reports.reading_wording import list_reading_facts


def build_environment(finalize: Callable[[object], object], filters: Mapping[str, Callable[..., Any]]) -> Environment:
    """Return a template environment. `finalize` is applied to every value that a template prints. If the result is not
    Markup, it is then escaped as HTML."""
    environment = Environment(
        loader=PackageLoader("assayer.reports", "templates"),
        autoescape=True,
        finalize=finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(filters)
    environment.globals["words"] = wording
    environment.globals["citation_words"] = citation_wording
    environment.globals["reference_words"] = reference_wording
    environment.globals["graph_words"] = graph_wording
    environment.globals["plan_words"] = plan_wording
    environment.globals["list_reading_facts"] = list_reading_facts
    environment.tests["absent"] = lambda value: isinstance(value, Absent)
    return environment
