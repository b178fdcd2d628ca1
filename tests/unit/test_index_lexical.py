from pathlib import Path

import pytest

from index.fusion import fuse
from index.lexical import Lexical, build_lexical, words

TEXTS = (
    "Wild bees pollinate orchards",
    "A compiler fuses loops of tensor programs",
    "Counting bees and hoverflies on transects",
    "The and of",
    "Bee hotels for solitary bees: nesting of bees",
)


@pytest.fixture(scope="module")
def lexical(tmp_path_factory: pytest.TempPathFactory) -> Lexical:
    directory = tmp_path_factory.mktemp("words")
    build_lexical(TEXTS, directory)
    return Lexical(directory)


def test_words_are_stemmed_and_common_ones_left_out() -> None:
    assert words("The Bees, POLLINATING and pollinated!") == ["bee", "pollin", "pollin"]


def test_query_finds_other_forms_of_its_words_the_most_telling_first(lexical: Lexical) -> None:
    assert lexical.best("bee", 10, len(TEXTS)).tolist()[0] == 4
    assert set(lexical.best("bee", 10, len(TEXTS)).tolist()) == {0, 2, 4}


def test_query_is_answered_from_the_first_rows_only(lexical: Lexical) -> None:
    assert lexical.best("bees", 10, 3).tolist() == [0, 2]
    assert lexical.best("bees", 1, 3).size == 1
    assert lexical.best("bees", 10, 0).tolist() == []


@pytest.mark.parametrize("query", ["", "the of and", "quasar", "!?"])
def test_query_without_a_known_word_finds_nothing(lexical: Lexical, query: str) -> None:
    assert lexical.best(query, 10, len(TEXTS)).tolist() == []


def test_index_of_texts_without_words_answers_nothing(tmp_path: Path) -> None:
    build_lexical(["!", "?"], tmp_path)
    assert Lexical(tmp_path).best("bees", 5, 2).tolist() == []


def test_fusion_prefers_what_both_rankings_have() -> None:
    scores = fuse([[1, 2, 3], [3, 4, 1]])
    assert sorted(scores, key=lambda item: -scores[item])[:2] == [1, 3]
    assert scores[1] == 1 / 61 + 1 / 63
    assert fuse([]) == {}
