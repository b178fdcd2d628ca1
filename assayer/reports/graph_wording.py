"""Wording for the graph of a report."""

from collections.abc import Mapping
from textwrap import shorten

from assayer.models import EdgeBasis, EdgeKind, GraphStep, NodeKind, SearchPath

_QUERY_CHARS = 90

NODES: Mapping[NodeKind, str] = {
    "idea": "the idea",
    "paper": "paper",
    "concept": "concept",
    "method": "method",
    "claim": "claim",
}
EDGES: Mapping[EdgeKind, str] = {
    "cites": "cites",
    "co_cited": "is cited together with",
    "near": "is close in words to",
    "derives": "derives from",
    "shares_method": "shares a method with",
    "uses": "uses",
    "concerns": "concerns",
    "states": "states",
    "supports": "supports",
    "contradicts": "contradicts",
}
BASES: Mapping[EdgeBasis, str] = {
    "record": "on record",
    "quoted": "quote found",
    "unverified": "quote not verified",
    "stated": "no quote",
}
_RELATIONS: Mapping[str, str] = {
    "reference": "cited by",
    "citing": "cites",
    "co-cited": "cited together with",
}


def describe_origin(reason: SearchPath) -> str:
    """Return how a paper was found: by a query, or through another paper, whose label is given in brackets."""
    if reason.label is None:
        relation = "similar to" if reason.kind == "dense" else "matching words of"
        return f"step {reason.step}: {relation} {_describe_query(reason.query)}"
    return f"step {reason.step}: {_RELATIONS.get(reason.kind, 'by')} [{reason.label}]"


def _describe_query(query: str | None) -> str:
    return "a query" if query is None else f"the query “{shorten(query, _QUERY_CHARS, placeholder=' …')}”"


def count_refused(step: GraphStep) -> int:
    return sum(edit.refusal_reason is not None for edit in step.edits)
