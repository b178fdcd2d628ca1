"""Stretches of long texts, and repositories as a reviewer skims them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.methods.innoeval.search.excerpts import collect_words, cut_excerpt, cut_repository_excerpt
from tests.unit.innoeval_world import make_codebase

ABOUT = collect_words("A checker compares quoted sentences with their sources.")


def test_passages_sharing_rare_words_with_the_idea_are_kept_in_order() -> None:
    text = "\n\n".join(
        [
            "The weather was fine on every day of the study.",
            "A checker of quoted words was built.",
            "Nothing else was looked at on any day of the study.",
            "It compares sentences with their sources.",
        ]
    )
    assert cut_excerpt([text], ABOUT, 90).split("\n\n") == [
        "A checker of quoted words was built.",
        "It compares sentences with their sources.",
    ]


def test_adjacent_passages_of_a_paragraph_stay_together() -> None:
    sentence = "The checker compares quoted sentences with their sources and counts those that do not stand there."
    text = " ".join([sentence] * 20)
    assert cut_excerpt([text], ABOUT, 5_000) == text


@given(st.lists(st.text(), max_size=5), st.integers(0, 400))
def test_excerpt_respects_the_limit_and_contains_only_source_words(texts: list[str], limit: int) -> None:
    excerpt = cut_excerpt(texts, ABOUT, limit)
    assert len(excerpt) <= limit
    source_words = " ".join(" ".join(texts).split())
    for paragraph in filter(None, excerpt.split("\n\n")):
        assert all(word in source_words for word in paragraph.split())


def test_repository_excerpt_contains_readme_structure_graph_and_code() -> None:
    text = cut_repository_excerpt(make_codebase("lab/checker"), ABOUT | {"quote", "match"}, 3_000)
    assert "Every quoted sentence is compared with its source" in text
    assert "Structure (3 files): README.md, checker/match.py, checker/run.py" in text
    assert "checker/run.py → checker/match.py" in text
    assert "checker/run.py: main → match_quote" in text
    assert "def match_quote(quote, source):" in text


@pytest.mark.parametrize(
    "sentence",
    [
        "мы проверяем каждую цитату и считаем те, которых в источнике нет.",
        "chaque citation est comparée à sa source.",
        "我们检查每一条引文，并统计来源中没有的那些。",
        "[1] a. b. c. [2] d.",
    ],
)
def test_long_page_in_any_script_fills_the_excerpt(sentence: str) -> None:
    excerpt = cut_excerpt([sentence * 300], ABOUT, 5_000)
    assert 4_000 < len(excerpt) <= 5_000
