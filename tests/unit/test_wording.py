"""Counts and amounts in plain English, as contesting applicants read them."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import assayer
from assayer.literature.paper_identity import extract_family_name
from assayer.methods.innoeval.search.fast_search import SOURCE_NOUNS
from assayer.reports.wording import format_count, format_money

PRODUCT = Path(assayer.__file__).parent
NOUN_ARGUMENT = {"Cut": 1, "record_dropped": 0, "record_failure": 0, "keep_successes": 1}
HEADS = {
    "candidates",
    "checks",
    "comparisons",
    "dimensions",
    "extractions",
    "findings",
    "groundings",
    "ideas",
    "look-ups",
    "meta-reviews",
    "methods",
    "modules",
    "notes",
    "pages",
    "papers",
    "parts",
    "passages",
    "points",
    "queries",
    "questions",
    "readings",
    "referees",
    "repositories",
    "requests",
    "rerankings",
    "reviews",
    "scores",
    "searches",
    "sections",
    "sentences",
    "sets",
    "sources",
    "steps",
    "titles",
    "viewpoints",
    "works",
}
"""Words that end in a plural where two items are lost. Check the wording before adding one."""


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (1, "paper", "1 paper"),
        (1_240, "paper", "1,240 papers"),
        (30, "paper for the methods", "30 papers for the methods"),
        (2, "first look at titles", "2 first looks at titles"),
        (2, "search", "2 searches"),
        (2, "search for a dimension", "2 searches for a dimension"),
        (24, "question to a remote source", "24 questions to a remote source"),
        (2, "query", "2 queries"),
        (2, "query for web, code or data", "2 queries for web, code or data"),
        (2, "query to be refined", "2 queries to be refined"),
        (2, "summary of soundness", "2 summaries of soundness"),
        (2, "source to be judged", "2 sources to be judged"),
        (2, "paper read for the methods", "2 papers read for the methods"),
        (2, "look-up of the idea's own references", "2 look-ups of the idea's own references"),
        (2, "queries", "2 queries"),
        (2, "relations between viewpoints", "2 relations between viewpoints"),
        (2, "day", "2 days"),
        (2, "analysis", "2 analyses"),
        (0, "repository to be read", "0 repositories to be read"),
    ],
)
def test_counted_nouns_take_their_plural(number: int, noun: str, text: str) -> None:
    assert format_count(number, noun) == text


def test_every_journal_noun_has_its_plural_form() -> None:
    nouns = {*SOURCE_NOUNS.values(), *iterate_journal_nouns()}
    heads = {
        added[0]
        for noun in nouns
        if (added := [word for word in format_count(2, noun).split()[1:] if word not in noun.split()])
    }
    assert len(nouns) > 40
    assert heads == HEADS


def iterate_journal_nouns() -> Iterator[str]:
    """Yield the nouns that the product writes where it cuts, drops or loses items."""
    for file in PRODUCT.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                place = NOUN_ARGUMENT.get(getattr(node.func, "id", getattr(node.func, "attr", "")))
                noun = None if place is None else node.args[place]
                if isinstance(noun, ast.Constant) and noun.value:
                    yield str(noun.value)


@pytest.mark.parametrize(
    ("usd", "text"),
    [(0.0, "$0.00"), (0.00004, "less than $0.0001"), (0.0001, "$0.0001"), (0.0421, "$0.0421"), (1.5, "$1.50")],
)
def test_small_amounts_are_not_rounded_to_zero(usd: float, text: str) -> None:
    assert format_money(usd) == text


@pytest.mark.parametrize(
    ("author", "family"),
    [
        ("Sammy Davis Jr.", "Davis"),
        ("Sammy Davis, Jr.", "Davis"),
        ("Davis, Sammy, Jr.", "Davis"),
        ("Ann Lee III", "Lee"),
        ("Lee, A.", "Lee"),
        ("A. LEE", "LEE"),
        ("Lee A", "Lee"),
        ("Jr.", "Jr."),
    ],
)
def test_family_name_excludes_suffixes(author: str, family: str) -> None:
    assert extract_family_name(author) == family
