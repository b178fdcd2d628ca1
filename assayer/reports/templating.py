"""What the templates of pages and of Markdown have in common: where they lie, and the words and tests they share."""

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from assayer.models import Absent
from assayer.reports import citation_wording, graph_wording, plan_wording, reference_wording, wording

__all__ = ["environment_with"]


def environment_with(finalize: Callable[[object], object], filters: Mapping[str, Callable[..., Any]]) -> Environment:
    """`finalize` sees every value that a template prints, before it is escaped as HTML unless it is Markup."""
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
    environment.tests["absent"] = lambda value: isinstance(value, Absent)
    return environment
