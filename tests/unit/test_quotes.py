"""A quote stands in its source only when it says the same."""

from collections.abc import Callable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assayer.citing.quotes import occurs_in
from tests.unit.quotes_cases import FOUND_QUOTES, NOT_FOUND_QUOTES

_WORD = st.one_of(
    st.text("abcdefghijklmnopqrstuvwxyzäöéßøλЖ", min_size=2, max_size=12),
    st.from_regex(r"[a-z]{2,6}-[a-z]{2,6}|[1-9][0-9]{0,3}(\.[0-9]{1,2})?%?|p<0\.0[1-9]", fullmatch=True),
)
_PLAIN = st.text("abcdefghijklmnopqrstuvwxyz", min_size=3, max_size=9)
_MARK = st.sampled_from(["", "", "", ",", ".", ";", ":", ")"])
_TEXT = st.lists(st.tuples(_WORD, _MARK).map("".join), min_size=8, max_size=60)
_OUTER_MARKS = st.sampled_from(["", '"', "“", "'", "(", "… ", "... ", "[...] ", "*"])
_SPACE = st.sampled_from([" ", "\n", "  ", "\t", "\xa0", " \n "])
_CASES: list[Callable[[str], str]] = [str, str.upper, str.title, str.casefold]


@pytest.mark.parametrize(("quote", "source"), NOT_FOUND_QUOTES)
def test_quote_with_changed_meaning_is_not_found(quote: str, source: str) -> None:
    assert not occurs_in(quote, source)


@pytest.mark.parametrize(("quote", "source"), FOUND_QUOTES)
def test_quote_in_another_spelling_is_found(quote: str, source: str) -> None:
    assert occurs_in(quote, source)


@given(_TEXT, st.data())
def test_any_run_of_words_is_found_in_its_source(words: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(words) - 8))
    run = words[start : data.draw(st.integers(start + 8, len(words)))]
    quote = data.draw(st.sampled_from(_CASES))(data.draw(_SPACE).join(run))
    assert occurs_in(data.draw(_OUTER_MARKS) + quote + data.draw(_OUTER_MARKS), " ".join(words))


@given(st.lists(_PLAIN, min_size=12, max_size=60), st.integers(0, 9999), st.data())
def test_quote_with_changed_number_is_not_found(words: list[str], number: int, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(words)))
    other_number = data.draw(st.integers(0, 9999).filter(lambda item: item != number))
    quote = [*words[:place], str(other_number), *words[place:]]
    assert not occurs_in(" ".join(quote), " ".join([*words[:place], str(number), *words[place:]]))


@given(st.lists(_PLAIN, min_size=8, max_size=60), st.sampled_from(["not", "no", "never", "without"]), st.data())
def test_quote_with_inserted_or_removed_negation_is_not_found(
    words: list[str], negation: str, data: st.DataObject
) -> None:
    place = data.draw(st.integers(1, len(words) - 1))
    negated = [*words[:place], negation, *words[place:]]
    assert not occurs_in(" ".join(negated), " ".join(words))
    assert not occurs_in(" ".join(words), " ".join(negated))


@given(st.lists(_PLAIN, min_size=8, max_size=60), _PLAIN, st.data())
def test_quote_with_changed_word_is_not_found(words: list[str], other_word: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(words) - 1))
    assume(other_word[:2] != words[place][:2])
    changed = [*words[:place], other_word, *words[place + 1 :]]
    assert not occurs_in(" ".join(changed), " ".join(words))


@given(st.text(max_size=300), st.text(max_size=600))
def test_comparing_arbitrary_texts_never_raises(quote: str, source: str) -> None:
    assert occurs_in(quote, source) in {True, False}
