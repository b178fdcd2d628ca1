"""The references that an idea itself gives: read, looked for, compared with the records, told in careful words."""

import datetime as dt

import pytest

from assayer.claim_support.schemas import SupportQuestion
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
from tests.unit.own_references_fixture import DIAZ, FOX, IDEA, LEE, LIST, checked, idea, outcomes, partly, record
from tests.unit.twins import TwinLlm, a_run
from workers.embedding.hashing_embedder import HashingEmbedder
from workers.literature.reference_sources import create_reference_sources
from workers.literature.settings import LiteratureSettings

# Reading


def test_reference_list_is_parsed_and_removed_from_the_citing_text() -> None:
    found = read_references(idea())
    assert [work.title for work in found.entries] == [
        "Replay buffers for continual text classification",
        "Forgetting curves of small language models",
        "Which examples does a model forget first",
    ]
    assert "Ann Lee" not in idea().text
    assert "Two years of one person" in idea().text


def test_links_and_identifiers_in_the_text_are_read_without_duplicates() -> None:
    text = (
        "We build on [Attention is all you need](https://arxiv.org/abs/1706.03762v5), on arXiv:1706.03762, on "
        "doi:10.1000/xyz and on https://doi.org/10.1000/XYZ, but not on [our page](https://example.org/a), as will be "
        "shown by experiments with the help of many."
    )
    found = read_references(idea(text)).entries
    assert [(work.title, work.arxiv, work.doi) for work in found] == [
        ("Attention is all you need", "1706.03762", ""),
        ("", "", "10.1000/xyz"),
    ]


def test_bare_identifier_beside_a_reference_list_is_not_a_reference() -> None:
    text = IDEA.replace("## Problem", "doi:10.1000/this-very-proposal\n\n## Problem")
    assert [work.doi for work in read_references(idea(text)).entries] == ["", "", ""]


def test_parsed_document_references_take_precedence_over_the_text() -> None:
    works = (CitedWork(title="From GROBID", raw="From GROBID. 2020."),)
    found = read_references(idea().model_copy(update={"references": works}))
    assert [work.title for work in found.entries] == ["From GROBID"]


async def test_idea_without_references_makes_no_source_requests() -> None:
    source = InMemorySource("crossref", [LEE])
    run, corpus = a_run(), MemoryCorpus((), HashingEmbedder())
    plain = idea("We will test whether forgetting can be foreseen. " * 5)
    sources = create_reference_sources(corpus, {"crossref": lambda run: source}, LiteratureSettings(), run)
    assert await check_own_references(plain, sources, TwinLlm(), run, OwnReferenceOptions()) is None
    assert source.requests == []


# Passages


def test_citation_number_ranges_are_expanded() -> None:
    works = [CitedWork(title=str(number)) for number in range(1, 8)]
    assert [bool(item.text) for item in find_citing_passages("All of it [2–4, 7].", works)] == [
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
    given = {"title": LEE.title, "authors": ("A. Lee",), "year": 2019, **work}
    match = find_best_match(CitedWork.model_validate(given), [DIAZ, LEE])
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
    theirs = FOX.model_copy(update={"identifiers": Identifiers(doi="10.1000/x")})
    match = find_best_match(CitedWork(title=DIAZ.title, authors=("Eve Fox",), doi="10.1000/x"), [theirs])
    assert match is not None
    assert match.differences == (f"The DOI 10.1000/x belongs to a work with a different title: “{FOX.title}”.",)


# Checking


async def test_corpus_and_sources_are_queried_in_turn_until_found() -> None:
    crossref, s2 = InMemorySource("crossref", [DIAZ, FOX]), InMemorySource("semantic_scholar", [FOX])
    own = await checked(local=[LEE], sources=[s2, crossref])
    assert outcomes(own) == ["found", "found", "found"]
    assert [entry.sources_answered for entry in own.entries] == [
        ("corpus",),
        ("corpus", "crossref"),
        ("corpus", "crossref"),
    ]
    assert s2.requests == []
    assert own.entries[0].record is not None
    assert own.entries[0].passage == "Rehearsal recovers most of the accuracy that fine-tuning loses [1]."


async def test_reference_not_found_names_the_sources_queried() -> None:
    own = await checked(local=[LEE], sources=[InMemorySource("crossref", [DIAZ]), InMemorySource("openalex", [])])
    assert outcomes(own) == ["found", "found", "not_found"]
    assert describe_own_outcome(own.entries[2]) == "not found in the corpus, Crossref and OpenAlex"
    assert not list(list_own_reference_notices(own))


async def test_several_references_not_found_produce_a_cautious_notice() -> None:
    (notice,) = list_own_reference_notices(await checked(local=[LEE]))
    assert notice.kind == "own_references"
    assert notice.text.startswith("2 of the idea's 3 own references were not found in the corpus. They may still exist")


async def test_reference_status_is_unknown_when_only_the_corpus_answers() -> None:
    down = InMemorySource("crossref", [], failing=SourceUnavailable("It is down."))
    own = await checked(local=[LEE], sources=[down])
    assert outcomes(own) == ["found", "absent", "absent"]
    assert describe_own_outcome(own.entries[1]) == (
        "not known; Crossref did not answer: it is not in the corpus, and no other source answered."
    )


async def test_differing_record_is_sought_elsewhere_before_reporting() -> None:
    old = DIAZ.model_copy(update={"publication_date": dt.date(2012, 1, 1)})
    assert outcomes(await checked(local=[LEE, old, FOX])) == ["found", "differs", "found"]
    better = InMemorySource("crossref", [DIAZ.model_copy(update={"source": "crossref"})])
    assert outcomes(await checked(local=[LEE, old, FOX], sources=[better])) == ["found"] * 3


async def test_retracted_reference_is_reported_with_its_notice() -> None:
    known = DIAZ.model_copy(update={"identifiers": Identifiers(doi="10.1000/diaz")})
    notice = Retraction(kind="retracted", source="crossref", notice="10.1000/notice")
    own = await checked(local=[LEE, FOX], sources=[InMemorySource("crossref", [known], retracted={known.id: notice})])
    assert outcomes(own) == ["found", "retracted", "found"]
    assert own.entries[1].retraction == notice
    (told,) = list_own_reference_notices(own)
    assert told.text == "Retracted or withdrawn among the idea's own references: number 2."


async def test_expression_of_concern_is_shown_but_not_as_retraction() -> None:
    doubted = DIAZ.model_copy(update={"retraction": Retraction(kind="concern", source="crossref")})
    own = await checked(local=[LEE, doubted, FOX])
    assert outcomes(own) == ["found"] * 3
    assert describe_own_outcome(own.entries[1]) == "found; expression of concern, according to Crossref"


async def test_reference_newer_than_the_cutoff_is_found_and_says_so() -> None:
    own = await checked(local=[LEE, DIAZ, FOX], cutoff=dt.date(2021, 12, 31))
    assert outcomes(own) == ["found"] * 3
    assert [entry.after_cutoff for entry in own.entries] == [False, False, True]


async def test_references_with_identifiers_are_requested_in_a_single_batch() -> None:
    papers = [
        record(f"p{n}", f"Some work {n}", "Ann Lee", 2020, identifiers=Identifiers(doi=f"10.1000/{n}"))
        for n in range(9)
    ]
    source = InMemorySource("crossref", papers)
    text = "We build on all of these works and test whether they hold for small models too, in eight languages: " + (
        " ".join(f"https://doi.org/10.1000/{n}" for n in range(9))
    )
    assert outcomes(await checked(text, sources=[source])) == ["found"] * 9
    assert [method for method, _ in source.requests] == ["resolve", "retractions"]


async def test_source_request_limit_is_respected() -> None:
    source = InMemorySource("crossref", [])
    own = await checked(sources=[source], settings=LiteratureSettings(own_references=2))
    assert [method for method, _ in source.requests] == ["search", "search"]
    assert sorted(outcomes(own)) == ["absent", "not_found", "not_found"]


async def test_check_stops_at_time_limit_and_marks_unchecked_references_absent() -> None:
    own = await checked(local=[LEE], sources=[HangingSearch("crossref", [])], seconds=1.0)
    assert outcomes(own) == ["found", "absent", "absent"]


async def test_unreadable_entry_is_absent_with_its_reason() -> None:
    listed = "\n".join(f"[{n}] Box {n} of the archive" for n in (1, 2, 3))
    own = await checked(IDEA.replace(LIST, listed), local=[LEE])
    assert [entry.outcome for entry in own.entries] == [
        Absent(reason="neither a title nor an identifier was detected in it.")
    ] * 3


async def test_references_beyond_the_limit_are_counted() -> None:
    own = await checked(local=[LEE], most=1)
    assert (len(own.entries), own.unchecked_entries) == (1, 2)


async def test_citing_passages_are_checked_against_abstracts() -> None:
    llm = TwinLlm({"support.claims": partly})
    silent = FOX.model_copy(update={"abstract": ""})
    own = await checked(local=[LEE, DIAZ, silent], llm=llm)
    ((_, question),) = llm.asked
    assert isinstance(question, SupportQuestion)
    assert [item.claim for item in question.items] == [
        "Rehearsal recovers most of the accuracy that fine-tuning loses [this source].",
        "Small models forget along a power law [this source].",
    ]
    assert isinstance(own.entries[0].passage_support, ClaimSupport)
    assert [describe_passage_support(entry) for entry in own.entries] == [
        "its abstract supports this in part: Says nothing of accuracy.",
        "its abstract supports this in part: Says nothing of accuracy.",
        "not checked: its record has no abstract.",
    ]


async def test_unchecked_passages_are_absent_with_their_reason() -> None:
    failing = TwinLlm(failing={"support.claims": MalformedAnswer("It made no sense.")})
    own = await checked(local=[LEE, DIAZ], llm=failing, passages=1)
    reasons = [entry.passage_support.reason for entry in own.entries if isinstance(entry.passage_support, Absent)]
    assert reasons == [
        f"{MalformedAnswer.reason}.",
        "not checked: the idea has more citing passages than are checked.",
        "not checked: no record was found.",
    ]


async def test_passages_are_not_judged_without_a_language_model() -> None:
    own = await checked(local=[LEE])
    assert describe_passage_support(own.entries[0]) == "not checked: this needs a language model."
