import datetime as dt
from urllib.parse import quote, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.text.markup import strip_markup
from workers.literature_apis.query_encoding import (
    encode_path_segment,
    is_allowed_in_filter,
    split_into_url_batches,
    strip_to_words,
)
from workers.literature_apis.record_fields import (
    check_link,
    compute_last_day,
    list_distinct_links,
    make_paper_id,
    parse_date,
)

_DAY = dt.date(2021, 5, 7)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2021-05-07", _DAY),
        ("2021-05-07T12:00:00Z", _DAY),
        ("2020-02", dt.date(2020, 2, 29)),
        ("2021-5", dt.date(2021, 5, 31)),
        ("2021", dt.date(2021, 12, 31)),
        ("2021-02-30", None),
        ("2021-13", None),
        ("0000", None),
        ("soon", None),
        ("", None),
    ],
)
def test_a_partial_date_is_the_last_day_of_its_period(text: str, day: dt.date | None) -> None:
    assert parse_date(text) == day


@given(st.integers(), st.none() | st.integers(), st.none() | st.integers())
def test_invalid_date_numbers_yield_no_date(year: int, month: int | None, day: int | None) -> None:
    last_day = compute_last_day(year, month, day)
    assert last_day is None or last_day.year == year


@pytest.mark.parametrize(
    "text",
    [
        "javascript:alert(1)",
        "ftp://x.org/a.pdf",
        "http://[",
        "https://",
        "//x.org",
        "https://x.org/\u202egpj.exe",
        "a b",
    ],
)
def test_non_web_address_is_not_a_link(text: str) -> None:
    assert check_link(text) == ""


def test_links_are_deduplicated_in_order() -> None:
    assert list_distinct_links("https://b.org/1", "", "https://a.org/2", "https://b.org/1") == (
        "https://b.org/1",
        "https://a.org/2",
    )


def test_paper_ids_encode_spaces_and_brackets() -> None:
    assert make_paper_id("doi", "10.1656/12[1:a b]%") == "doi:10.1656/12%5B1:a%20b%5D%25"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ('graph "neural" networks', "graph neural networks"),
        ("cats AND dogs NOT (birds OR fish)", "cats and dogs not birds or fish"),
        ("does self-supervised pre-training help?", "does self-supervised pre-training help"),
        ("-excluded +wanted ~fuzzy* wild* title:x a|b !c", "excluded wanted fuzzy wild title x a b c"),
        ('","filter":cites:W1&per_page=200', "filter cites W1 per_page 200"),
        ("GPT-4.5 and Moore’s law", "GPT-4.5 and Moore’s law"),
        ("機械学習 und Größe", "機械学習 und Größe"),
        ("?!* ()", ""),
    ],
)
def test_plain_query_keeps_only_words(query: str, words: str) -> None:
    assert strip_to_words(query) == words


@given(st.text())
def test_plain_query_contains_no_operators(query: str) -> None:
    words = strip_to_words(query)
    assert not set(words) & set('"()[]{}*?~!|&+:\\/,^<>=')
    assert not {"AND", "OR", "NOT"} & set(words.split())
    assert all(word[0] not in "-.'" for word in words.split())
    assert strip_to_words(words) == words


@given(st.text(min_size=1), st.integers(1, 60))
def test_plain_query_fits_url_length_limit(query: str, longest: int) -> None:
    assert len(quote(strip_to_words(query, longest))) <= longest + 2 * strip_to_words(query, longest).count(" ")


@pytest.mark.parametrize(
    ("text", "visible_text"),
    [
        (
            "<jats:title>Abstract</jats:title><jats:p>We  study\n <jats:italic>E. coli</jats:italic>.</jats:p>",
            "We study\nE. coli.",
        ),
        (
            "<jats:sec><jats:title>Background</jats:title><jats:p>One.</jats:p></jats:sec><jats:p>Two.</jats:p>",
            "Background\nOne.\nTwo.",
        ),
        ("H<sub>2</sub>O at p &lt; 0.05 and q &gt; 1", "H2O at p < 0.05 and q > 1"),
        ("&lt;p&gt;Escaped&lt;/p&gt; twice &amp;amp; more", "Escaped twice & more"),
        ("energy <mml:math><mml:mi>x</mml:mi></mml:math><jats:tex-math>$$x$$</jats:tex-math> falls", "energy x falls"),
        ("no markup at all", "no markup at all"),
        ("a <broken tag and <b>more", "a <broken tag and more"),
        ("", ""),
    ],
)
def test_markup_is_stripped_to_visible_text(text: str, visible_text: str) -> None:
    assert strip_markup(text) == visible_text


@pytest.mark.parametrize("piece", ["<", " ", "\n", "<tex-math>", "<!--", "<jats:title> ", "&amp;", "</p "])
def test_stripping_hostile_markup_keeps_length_bounded(piece: str) -> None:
    assert len(strip_markup(piece * 40_000)) <= 40_000 * len(piece)


@given(st.text())
def test_doi_path_segment_is_fully_encoded_and_reversible(doi: str) -> None:
    assert not set(encode_path_segment(doi)) & set("/?#%") - {"%"}
    assert unquote(encode_path_segment(doi)) == doi


@pytest.mark.parametrize(
    ("doi", "may"),
    [
        ("10.1000/abc-1.2_(x)", True),
        ("10.1002/(sici)1097<1661::aid-1>3.0.co;2-2", False),
        ("10.1000/a,b", False),
        ("10.1000/a|10.1000/b", False),
        ("10.1000/a b", False),
        ("10.1000/größe", False),
    ],
)
def test_only_dois_without_separators_are_allowed_in_filters(doi: str, may: bool) -> None:
    assert is_allowed_in_filter(doi) is may


@given(st.lists(st.text(min_size=1, max_size=30)), st.integers(1, 9), st.integers(1, 100))
def test_url_batches_keep_all_values_within_limits(values: list[str], max_values: int, max_length: int) -> None:
    parts = [list(batch) for batch in split_into_url_batches(values, max_values, max_length)]
    assert [value for part in parts for value in part] == values
    assert all(len(part) <= max_values for part in parts)
    assert all(len(part) == 1 or sum(len(quote(value, safe="")) + 3 for value in part) <= max_length for part in parts)
