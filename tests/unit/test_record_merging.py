"""Records of the same paper from several sources become one."""

import datetime as dt
from collections.abc import Iterable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assayer.models import FieldOrigin, Identifiers, Paper, PaperId, Retraction
from workers.literature.record_merging import (
    SOURCE_ORDER,
    add_url_identifiers,
    collect_identifiers,
    group_by_paper,
    have_same_identifiers,
    merge_records,
)

DOI = "10.1145/3366423.3380130"
TITLE = "Checking the quotes of generated reviews"


def make_paper(source: str, key: str = "", **fields: object) -> Paper:
    values = {"title": TITLE, "abstract": "", "authors": ("Ada Lovelace",), "publication_date": dt.date(2023, 5, 1)}
    return Paper.model_validate({**values, "id": f"{source}:{key}", "source": source, **fields})


def merge_all(records: Iterable[Paper]) -> tuple[Paper, ...]:
    """Merge the records of several sources into one per paper."""
    return tuple(map(merge_records, group_by_paper(map(add_url_identifiers, records))))


def test_records_sharing_an_identifier_merge_and_keep_all_identifiers() -> None:
    (paper,) = merge_all(
        [
            make_paper("openalex", identifiers=Identifiers(doi=DOI, openalex="W1"), authors=("Somebody Else",)),
            make_paper("semantic_scholar", identifiers=Identifiers(doi=DOI, arxiv="2305.00001"), title="Another title"),
        ]
    )
    assert paper.id == "semantic_scholar:"
    assert paper.identifiers == Identifiers(doi=DOI, arxiv="2305.00001", openalex="W1")
    assert FieldOrigin(field="identifiers.openalex", source="openalex") in paper.origins


def test_record_matching_two_others_merges_all_three() -> None:
    (paper,) = merge_all(
        [
            make_paper("arxiv", identifiers=Identifiers(arxiv="2305.00001"), title="As first posted", authors=()),
            make_paper("crossref", identifiers=Identifiers(doi=DOI), title="As published", authors=()),
            make_paper("semantic_scholar", identifiers=Identifiers(arxiv="2305.00001", doi=DOI), authors=()),
        ]
    )
    assert paper.title == TITLE


def test_records_without_shared_identifier_join_by_title_year_and_first_author() -> None:
    (paper,) = merge_all(
        [
            make_paper("corpus", title="Checking the Quotes of Generated Reviews.", authors=("Lovelace, Ada",)),
            make_paper("arxiv", identifiers=Identifiers(arxiv="2305.00001"), authors=("A. Lovelace", "C. Babbage")),
        ]
    )
    assert (paper.id, paper.identifiers.arxiv) == ("corpus:", "2305.00001")


def test_same_title_with_contradicting_identifiers_is_two_papers() -> None:
    first = make_paper("semantic_scholar", identifiers=Identifiers(doi=DOI))
    assert len(merge_all([first, make_paper("crossref", identifiers=Identifiers(doi="10.1000/other"))])) == 2


def test_two_records_of_the_corpus_stay_two_papers() -> None:
    assert len(merge_all([make_paper("corpus", "a"), make_paper("corpus", "b")])) == 2


def test_arxiv_doi_does_not_conflict_with_publisher_doi() -> None:
    posted = make_paper("openalex", identifiers=Identifiers(doi="10.48550/arxiv.2305.00001"))
    published = make_paper("semantic_scholar", identifiers=Identifiers(doi=DOI, arxiv="2305.00001"))
    (paper,) = merge_all([posted, published])
    assert paper.identifiers.doi == DOI


def test_identifier_in_record_url_is_used_for_merging() -> None:
    known_paper = make_paper("corpus", url="https://arxiv.org/abs/2305.00001v2", authors=())
    (paper,) = merge_all(
        [known_paper, make_paper("arxiv", identifiers=Identifiers(arxiv="2305.00001"), title="Another")]
    )
    assert paper.id == "corpus:"


def test_each_field_uses_best_source_and_records_its_origin() -> None:
    full_abstract = "We check each quote against its source, and find that a third of them does not stand there."
    (paper,) = merge_all(
        [
            make_paper("corpus", abstract="We check each quote …", publication_date=dt.date(2023, 12, 31)),
            make_paper("semantic_scholar", abstract=full_abstract, citation_count=7, venue="WWW"),
            make_paper(
                "openalex", citation_count=11, venue="The Web Conference", pdf_urls=("https://a.example/1.pdf",)
            ),
        ]
    )
    assert (paper.abstract, paper.venue, paper.citation_count) == (full_abstract, "WWW", 11)
    assert paper.publication_date == dt.date(2023, 5, 1)
    assert {origin.field: origin.source for origin in paper.origins} == {
        "abstract": "semantic_scholar",
        "publication_date": "semantic_scholar",
        "venue": "semantic_scholar",
        "citation_count": "openalex",
        "pdf_urls": "openalex",
    }


def test_slightly_longer_abstract_does_not_replace_preferred_source() -> None:
    short, long = "Quotes are checked against their source.", "Quotes are checked against their source. © 2023"
    (paper,) = merge_all([make_paper("corpus", abstract=short), make_paper("crossref", abstract=long)])
    assert paper.abstract == short


def test_retraction_from_any_source_marks_paper_and_most_severe_wins() -> None:
    concern, retracted = (
        Retraction(kind="concern", source="openalex"),
        Retraction(kind="retracted", source="crossref", notice="10.1000/notice"),
    )
    (paper,) = merge_all(
        [make_paper("corpus"), make_paper("openalex", retraction=concern), make_paper("crossref", retraction=retracted)]
    )
    assert paper.retraction == retracted


def test_single_record_is_unchanged() -> None:
    paper = make_paper("corpus", abstract="As the operator wrote it …")
    assert merge_all([paper]) == (paper,)


_IDENTIFIER_PARTS = st.sampled_from(["", "", "1", "2"])
_RECORDS = st.lists(
    st.builds(
        make_paper,
        source=st.sampled_from([*SOURCE_ORDER, "web"]),
        key=st.sampled_from(["a", "b"]),
        title=st.sampled_from([TITLE, f"{TITLE} again", ""]),
        abstract=st.sampled_from(["", "Short.", "A longer abstract …", "The longest abstract of all these."]),
        authors=st.sampled_from([(), ("Ada Lovelace",), ("Charles Babbage",)]),
        publication_date=st.sampled_from([None, dt.date(2022, 12, 31), dt.date(2023, 5, 1), dt.date(2023, 5, 31)]),
        citation_count=st.sampled_from([None, 0, 5]),
        retraction=st.sampled_from([None, Retraction(kind="concern", source="x")]),
        pdf_urls=st.sampled_from([(), ("https://a.example/1.pdf",), ("https://b.example/2.pdf",)]),
        identifiers=st.builds(
            Identifiers,
            doi=_IDENTIFIER_PARTS,
            arxiv=_IDENTIFIER_PARTS,
            s2=_IDENTIFIER_PARTS,
            openalex=_IDENTIFIER_PARTS,
        ),
    ),
    max_size=8,
)


@settings(deadline=None)
@given(_RECORDS, st.randoms(use_true_random=False))
def test_merging_is_independent_of_record_order(records: list[Paper], random: Random) -> None:
    shuffled = list(records)
    random.shuffle(shuffled)
    assert merge_all(shuffled) == merge_all(records)


@settings(deadline=None)
@given(_RECORDS)
def test_every_record_joins_a_single_consistent_paper_with_traceable_fields(records: list[Paper]) -> None:
    merged = merge_all(records)
    assert sorted(map(repr, merge_all(merged))) == sorted(map(repr, merged)), "merging again changes nothing"
    groups = group_by_paper(records)
    assert sorted(map(repr, {*records})) == sorted(repr(record) for group in groups for record in group)
    for group in groups:
        for record in group:
            assert all(
                have_same_identifiers(collect_identifiers(record), collect_identifiers(other_record))
                for other_record in group
            )
        paper = merge_records(group)
        for field in ("title", "abstract", "authors", "publication_date", "citation_count", "retraction"):
            giver = next((origin.source for origin in paper.origins if origin.field == field), paper.source)
            assert getattr(paper, field) in {getattr(record, field) for record in group if record.source == giver}


@pytest.mark.parametrize("field", ["abstract", "venue", "url"])
def test_empty_field_is_filled_from_any_source(field: str) -> None:
    (paper,) = merge_all([make_paper("corpus"), make_paper("web", "w", **{field: "https://x.example/said"})])
    assert getattr(paper, field) == "https://x.example/said"
    assert PaperId("corpus:") == paper.id
