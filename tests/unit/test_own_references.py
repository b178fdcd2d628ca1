"""The references that an idea itself gives: read, looked for, compared with the records, told in careful words."""

import datetime as dt

import pytest

from assayer.claim_support.task import SupportQuestion
from assayer.errors import MalformedAnswer, SourceUnavailable
from assayer.models import Absent, CitedWork, ClaimSupport, Identifiers, Retraction
from assayer.own_references.check import check_own_references
from assayer.own_references.entries import read_references
from assayer.own_references.matching import find_best_match
from assayer.own_references.options import OwnReferenceOptions
from assayer.own_references.passages import find_citing_passages
from assayer.reports.notices import list_own_reference_notices
from assayer.reports.reference_wording import describe_own_outcome, describe_passage_support
from tests.in_memory import HangingSearch, InMemorySource
from tests.memory_corpus import MemoryCorpus
from tests.unit.own_references_fixture import (
    DIAZ,
    FOX,
    IDEA,
    LEE,
    REFERENCE_LIST,
    answer_partly_supported,
    check_references,
    list_outcomes,
    make_idea,
    record,
)
from tests.unit.twins import TwinLlm, make_run
from workers.embedding.hashing_embedder import HashingEmbedder
from workers.literature.reference_sources import create_reference_sources
from workers.literature.settings import LiteratureSettings

# Reading


def test_reference_list_is_parsed_and_removed_from_the_citing_text() -> None:
    parsed = read_references(make_idea())
    assert [work.title for work in parsed.entries] == [
        "Replay buffers for continual text classification",
        "Forgetting curves of small language models",
        "Which examples does a model forget first",
    ]
    assert "Ann Lee" not in make_idea().text
    assert "Two years of one person" in make_idea().text


def test_links_and_identifiers_in_the_text_are_read_without_duplicates() -> None:
    text = (
        "We build on [Attention is all you need](https://arxiv.org/abs/1706.03762v5), on arXiv:1706.03762, on "
        "doi:10.1000/xyz and on https://doi.org/10.1000/XYZ, but not on [our page](https://example.org/a), as will be "
        "shown by experiments with the help of many."
    )
    entries = read_references(make_idea(text)).entries
    assert [(work.title, work.arxiv, work.doi) for work in entries] == [
        ("Attention is all you need", "1706.03762", ""),
        ("", "", "10.1000/xyz"),
    ]


def test_bare_identifier_next_to_a_reference_list_is_not_a_reference() -> None:
    text = IDEA.replace("## Problem", "doi:10.1000/this-very-proposal\n\n## Problem")
    assert [work.doi for work in read_references(make_idea(text)).entries] == ["", "", ""]


def test_parsed_document_references_take_precedence_over_the_text() -> None:
    cited_works = (CitedWork(title="From GROBID", raw="From GROBID. 2020."),)
    parsed = read_references(make_idea().model_copy(update={"references": cited_works}))
    assert [work.title for work in parsed.entries] == ["From GROBID"]


async def test_idea_without_references_makes_no_source_requests() -> None:
    source = InMemorySource("crossref", [LEE])
    run, corpus = make_run(), MemoryCorpus((), HashingEmbedder())
    idea_without_references = make_idea("We will test whether forgetting can be foreseen. " * 5)
    sources = create_reference_sources(corpus, {"crossref": lambda run: source}, LiteratureSettings(), run)
    assert await check_own_references(idea_without_references, sources, TwinLlm(), run, OwnReferenceOptions()) is None
    assert source.requests == []


# Passages


def test_citation_number_ranges_are_expanded() -> None:
    cited_works = [CitedWork(title=str(number)) for number in range(1, 8)]
    assert [bool(item.text) for item in find_citing_passages("All of it [2–4, 7].", cited_works)] == [
        False, True, True, True, False, False, True,
    ]  # fmt: skip


# Matching


@pytest.mark.parametrize(
    ("work", "differences"),
    [
        pytest.param({"year": 2020}, (), id="published a year later"),
        pytest.param({"year": 2012}, ("The entry is dated 2012, the record 2019.",), id="another year"),
        pytest.param(
            {"title": "", "raw": "A. Lee, Replay buffers for continual text classification, 2019"}, (), id="raw"
        ),
    ],
)
def test_record_of_same_work_is_matched_and_differences_are_reported(
    work: dict[str, object], differences: tuple[str, ...]
) -> None:
    fields = {"title": LEE.title, "authors": ("A. Lee",), "year": 2019, **work}
    match = find_best_match(CitedWork.model_validate(fields), [DIAZ, LEE])
    assert match is not None
    assert (match.paper.id, match.differences) == ("lee", differences)


@pytest.mark.parametrize(
    "work",
    [
        pytest.param(
            CitedWork(title="Replay curves of continual language models", authors=("Ann Lee",)), id="recombined"
        ),
        pytest.param(
            CitedWork(title="Deep learning", authors=("Zed Young",), year=2016), id="short title, other author"
        ),
        pytest.param(CitedWork(title="Replay bufers for continual text classification"), id="misprint, nobody named"),
        pytest.param(CitedWork(raw="Minutes of meeting 4"), id="no title"),
        pytest.param(CitedWork(title="Abcdefg" + LEE.title[7:][::-1], authors=("Ann Lee",)), id="as many letters"),
    ],
)
def test_record_of_another_work_is_not_matched(work: CitedWork) -> None:
    assert find_best_match(work, [LEE, DIAZ, record("dl", "Deep learning", "Yann LeCun", 2015)]) is None


def test_identifier_of_another_title_is_reported() -> None:
    paper_of_doi = FOX.model_copy(update={"identifiers": Identifiers(doi="10.1000/x")})
    match = find_best_match(CitedWork(title=DIAZ.title, authors=("Eve Fox",), doi="10.1000/x"), [paper_of_doi])
    assert match is not None
    assert match.differences == (f"The DOI 10.1000/x belongs to a work with a different title: “{FOX.title}”.",)


# Checking


async def test_corpus_and_sources_are_queried_in_turn_until_found() -> None:
    crossref, s2 = InMemorySource("crossref", [DIAZ, FOX]), InMemorySource("semantic_scholar", [FOX])
    references = await check_references(local_papers=[LEE], sources=[s2, crossref])
    assert list_outcomes(references) == ["found", "found", "found"]
    assert [entry.sources_answered for entry in references.entries] == [
        ("corpus",),
        ("corpus", "crossref"),
        ("corpus", "crossref"),
    ]
    assert s2.requests == []
    assert references.entries[0].record is not None
    assert references.entries[0].passage == "Rehearsal recovers most of the accuracy that fine-tuning loses [1]."


async def test_reference_not_found_names_the_sources_queried() -> None:
    references = await check_references(
        local_papers=[LEE], sources=[InMemorySource("crossref", [DIAZ]), InMemorySource("openalex", [])]
    )
    assert list_outcomes(references) == ["found", "found", "not_found"]
    assert describe_own_outcome(references.entries[2]) == "not found in the corpus, Crossref and OpenAlex"
    assert not list(list_own_reference_notices(references))


async def test_several_references_not_found_produce_a_cautious_notice() -> None:
    (notice,) = list_own_reference_notices(await check_references(local_papers=[LEE]))
    assert notice.kind == "own_references"
    assert notice.text.startswith("2 of the idea's 3 own references were not found in the corpus. They may still exist")


async def test_reference_status_is_unknown_when_only_the_corpus_answers() -> None:
    failing_source = InMemorySource("crossref", [], failing=SourceUnavailable("It is down."))
    references = await check_references(local_papers=[LEE], sources=[failing_source])
    assert list_outcomes(references) == ["found", "absent", "absent"]
    assert describe_own_outcome(references.entries[1]) == (
        "not known; Crossref did not answer: it is not in the corpus, and no other source answered."
    )


async def test_differing_record_is_sought_elsewhere_before_reporting() -> None:
    old = DIAZ.model_copy(update={"publication_date": dt.date(2012, 1, 1)})
    assert list_outcomes(await check_references(local_papers=[LEE, old, FOX])) == ["found", "differs", "found"]
    better = InMemorySource("crossref", [DIAZ.model_copy(update={"source": "crossref"})])
    assert list_outcomes(await check_references(local_papers=[LEE, old, FOX], sources=[better])) == ["found"] * 3


async def test_retracted_reference_is_reported_with_its_notice() -> None:
    retracted_paper = DIAZ.model_copy(update={"identifiers": Identifiers(doi="10.1000/diaz")})
    notice = Retraction(kind="retracted", source="crossref", notice="10.1000/notice")
    references = await check_references(
        local_papers=[LEE, FOX],
        sources=[InMemorySource("crossref", [retracted_paper], retracted={retracted_paper.id: notice})],
    )
    assert list_outcomes(references) == ["found", "retracted", "found"]
    assert references.entries[1].retraction == notice
    (report_notice,) = list_own_reference_notices(references)
    assert report_notice.text == "Retracted or withdrawn among the idea's own references: number 2."


async def test_expression_of_concern_is_shown_but_not_as_retraction() -> None:
    doubted_paper = DIAZ.model_copy(update={"retraction": Retraction(kind="concern", source="crossref")})
    references = await check_references(local_papers=[LEE, doubted_paper, FOX])
    assert list_outcomes(references) == ["found"] * 3
    assert describe_own_outcome(references.entries[1]) == "found; expression of concern, according to Crossref"


async def test_reference_newer_than_the_cutoff_is_found_and_marked() -> None:
    references = await check_references(local_papers=[LEE, DIAZ, FOX], cutoff=dt.date(2021, 12, 31))
    assert list_outcomes(references) == ["found"] * 3
    assert [entry.after_cutoff for entry in references.entries] == [False, False, True]


async def test_references_with_identifiers_are_requested_in_a_single_batch() -> None:
    papers = [
        record(f"p{n}", f"Some work {n}", "Ann Lee", 2020, identifiers=Identifiers(doi=f"10.1000/{n}"))
        for n in range(9)
    ]
    source = InMemorySource("crossref", papers)
    text = "We build on all of these works and test whether they hold for small models too, in eight languages: " + (
        " ".join(f"https://doi.org/10.1000/{n}" for n in range(9))
    )
    assert list_outcomes(await check_references(text, sources=[source])) == ["found"] * 9
    assert [method for method, _ in source.requests] == ["resolve", "retractions"]


async def test_source_request_limit_is_respected() -> None:
    source = InMemorySource("crossref", [])
    references = await check_references(sources=[source], settings=LiteratureSettings(own_references=2))
    assert [method for method, _ in source.requests] == ["search", "search"]
    assert sorted(list_outcomes(references)) == ["absent", "not_found", "not_found"]


async def test_check_stops_at_time_limit_and_marks_unchecked_references_absent() -> None:
    references = await check_references(local_papers=[LEE], sources=[HangingSearch("crossref", [])], seconds=1.0)
    assert list_outcomes(references) == ["found", "absent", "absent"]


async def test_unreadable_entry_is_absent_with_its_reason() -> None:
    reference_list = "\n".join(f"[{n}] Box {n} of the archive" for n in (1, 2, 3))
    references = await check_references(IDEA.replace(REFERENCE_LIST, reference_list), local_papers=[LEE])
    assert [entry.outcome for entry in references.entries] == [
        Absent(reason="neither a title nor an identifier was detected in it.")
    ] * 3


async def test_references_beyond_the_limit_are_counted() -> None:
    references = await check_references(local_papers=[LEE], most=1)
    assert (len(references.entries), references.unchecked_entries) == (1, 2)


async def test_citing_passages_are_checked_against_abstracts() -> None:
    llm = TwinLlm({"support.claims": answer_partly_supported})
    silent = FOX.model_copy(update={"abstract": ""})
    references = await check_references(local_papers=[LEE, DIAZ, silent], llm=llm)
    ((_, question),) = llm.requests
    assert isinstance(question, SupportQuestion)
    assert [item.claim for item in question.items] == [
        "Rehearsal recovers most of the accuracy that fine-tuning loses [this source].",
        "Small models forget along a power law [this source].",
    ]
    assert isinstance(references.entries[0].passage_support, ClaimSupport)
    assert [describe_passage_support(entry) for entry in references.entries] == [
        "its abstract supports this in part: Says nothing of accuracy.",
        "its abstract supports this in part: Says nothing of accuracy.",
        "not checked: its record has no abstract.",
    ]


async def test_unchecked_passages_are_absent_with_their_reason() -> None:
    failing = TwinLlm(failing={"support.claims": MalformedAnswer("It made no sense.")})
    references = await check_references(local_papers=[LEE, DIAZ], llm=failing, passages=1)
    reasons = [
        entry.passage_support.reason for entry in references.entries if isinstance(entry.passage_support, Absent)
    ]
    assert reasons == [
        f"{MalformedAnswer.reason}.",
        "not checked: the idea has more citing passages than are checked.",
        "not checked: no record was found.",
    ]


async def test_passages_are_not_judged_without_a_language_model() -> None:
    references = await check_references(local_papers=[LEE])
    assert describe_passage_support(references.entries[0]) == "not checked: this needs a language model."
