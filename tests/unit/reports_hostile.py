"""The full report, with an attack in front of every text from an external source."""

from typing import Any

from assayer.models import Report
from tests.unit.reports_fixture import make_full_report

ATTACK = (
    "# Heading\n## Another\n- item\n1. one\n> cited\n===\n---\n"
    "<script>alert(1)</script><img src=x onerror=alert(1)></style></title>\"'> &amp; &#60;b&#62; <!-- "
    "**bold** _slanted_ ~~gone~~ `code` ``` $x$ [click](http://evil.example/1) ![i](http://evil.example/2.png) "
    "<http://evil.example/3> http://evil.example/4 www.evil.example evil.com ftp://evil.example me@evil.example "
    "| a | b |\n|---|---|\n[P1]: http://evil.example/5\n[P1](http://evil.example/6) [P1][P2][x] [P98, P1] [P99]\\"
    "\n```\n{{ 7 * 7 }} {% raw %} \u202eturned\u202c \u05e2\u05d1\u05e8\u05d9\u05ea \u0645\u0631\u062d\u0628\u0627 "
    "\x00\x07 \u200b end "
)
ADDRESSES = (
    "javascript:alert(1)",
    "JAVASCRIPT:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    'https://papers.example.org/a"onmouseover="alert(1)',
    "https://papers.example.org@evil.example/",
    "https://papers.example.org/a b",
    "//evil.example/",
    "https://papers.example.org/fine?a=1&b=2#c",
)
"""One for each reference; only the last is a plain web address."""

_EXTERNAL_FIELDS = {
    "title", "text", "statement", "basis", "reason", "criterion", "excerpt", "venue", "quote", "item_kind",
    "task", "module", "id", "evaluation_id", "source", "corpus_version", "embedding_model", "assayer_version",
    "passage", "change", "purpose", "verdict", "headline", "fix", "conclusion", "difference",
}  # fmt: skip
_LISTS = {"authors", "differences", "models"}


def add_attacks(value: Any) -> Any:
    """Return the dump of a model with the attack in front of every text from outside."""
    if isinstance(value, list | tuple):
        return [add_attacks(item) for item in value]
    if not isinstance(value, dict):
        return value
    result: dict[str, Any] = {}
    for key, item in value.items():
        if key in _EXTERNAL_FIELDS and isinstance(item, str):
            result[key] = ATTACK + item
        elif key in _LISTS:
            result[key] = [ATTACK + name for name in item]
        else:
            result[key] = add_attacks(item)
    if isinstance(value.get("name"), str) and "statement" in value:
        result["name"] = ATTACK + value["name"]
    return result


def make_hostile_report() -> Report:
    """Return a report without a cutoff, with undated papers, attacks in names of models, and invalid addresses."""
    dump = add_attacks(make_full_report().model_dump())
    dump["cutoff"] = None
    dump["provenance"]["models"] = [ATTACK + "model"]
    for reference, url in zip(dump["references"], ADDRESSES, strict=True):
        reference["url"] = url
        reference["publication_date"] = None
    for entry, url in zip(dump["own_references"]["entries"], ADDRESSES, strict=False):
        if entry["record"]:
            entry["record"] |= {"url": url, "publication_date": None}
        if entry["retraction"]:
            entry["retraction"]["notice"] = url
    return Report.model_validate(dump)
