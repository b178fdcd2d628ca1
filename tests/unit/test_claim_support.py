"""The support check: every claim beside each of its verified quotes, and what is written there."""

from collections.abc import Mapping

import pytest
from pydantic import BaseModel

from assayer.citing.excerpts import cut_excerpt, join_excerpts
from assayer.citing.labels import build_marker
from assayer.claim_support.checking import CheckedClaims, check_claims
from assayer.claim_support.task import SUPPORT, SupportAnswer, SupportQuestion, SupportVerdict
from assayer.errors import AssayerError, MalformedAnswer
from assayer.llm import NoLlm
from assayer.models import Absent, Citation, ClaimCounts, ClaimSupport, FurtherQuote, Paper, PaperId, Point, Summary
from assayer.prompts import fence
from assayer.run.run import Run
from tests.unit.twins import Answerer, TwinLlm, make_run

A, B = PaperId("a"), PaperId("b")
HALVED = "rehearsal halved forgetting on five streams of text"
NO_GAIN = "we found no gain over uniform replay on images"


def make_paper(paper: PaperId) -> Paper:
    return Paper(id=paper, title=f"Title of\n{paper}", abstract="", url="https://example.org", source="corpus")


PAPERS = {A: make_paper(A), B: make_paper(B)}


def cite(paper: PaperId, quote: str | None) -> Citation:
    return Citation(label=build_marker(paper), quote=quote, quote_state="verified" if quote else "none")


def make_point(text: str = f"Rehearsal helps [{build_marker(A)}].", *citations: Citation) -> Point:
    return Point(kind="strength", text=text, citations=citations or (cite(A, HALVED),))


def make_summary(*points: Point) -> Summary:
    return Summary(strengths=points, weaknesses=(), suggestions=())


def script_support(outcome: str, carried: str = HALVED, missing_part: str = "") -> Mapping[str, Answerer]:
    def answer(question: BaseModel) -> BaseModel:
        assert isinstance(question, SupportQuestion)
        fields = {"carried": carried, "missing": missing_part, "outcome": outcome}
        return SupportAnswer(
            verdicts=[SupportVerdict.model_validate({"label": item.label, **fields}) for item in question.items]
        )

    return {"support.claims": answer}


def make_llm(outcome: str = "supports", carried: str = HALVED, missing_part: str = "") -> TwinLlm:
    return TwinLlm(script_support(outcome, carried, missing_part))


async def check_points(llm: TwinLlm | NoLlm, *points: Point, run: Run | None = None) -> CheckedClaims:
    return await check_claims(llm, run or make_run(), (make_summary(*points),), PAPERS)


async def check_support(llm: TwinLlm | NoLlm, point: Point) -> ClaimSupport | Absent | None:
    checked = await check_points(llm, point)
    return checked.write_into(point).citations[0].support


@pytest.mark.parametrize("outcome", ["supports", "partly", "not", "contradicts"])
async def test_support_outcome_is_recorded_on_citation(outcome: str) -> None:
    support = await check_support(make_llm(outcome, missing_part="Says nothing of images."), make_point())
    assert isinstance(support, ClaimSupport)
    assert support.outcome == outcome
    assert support.missing == ("" if outcome == "supports" else "Says nothing of images.")


async def test_model_sees_source_placeholders_instead_of_paper_markers() -> None:
    llm = make_llm()
    text = f"Rehearsal helps [{build_marker(A)}] but not with images [{build_marker(B)}]."
    await check_points(llm, make_point(text, cite(A, HALVED), cite(B, NO_GAIN)))
    ((_, question),) = llm.requests
    assert isinstance(question, SupportQuestion)
    assert [item.claim for item in question.items] == [
        "Rehearsal helps [this source] but not with images [another source].",
        "Rehearsal helps [another source] but not with images [this source].",
    ]
    assert [(item.passage, item.title) for item in question.items] == [
        (HALVED, "Title of a"),
        (NO_GAIN, "Title of b"),
    ]


async def test_model_sees_sentences_surrounding_an_abstract_quote() -> None:
    llm = make_llm()
    abstract = f"We rehearse old tasks. {HALVED}. It holds for five streams of text. Nothing else was tried."
    papers = {**PAPERS, A: PAPERS[A].model_copy(update={"abstract": abstract})}
    await check_claims(llm, make_run(), (make_summary(make_point()),), papers)
    ((_, question),) = llm.requests
    assert isinstance(question, SupportQuestion)
    assert question.items[0].passage == f"We rehearse old tasks. {HALVED}. It holds for five streams of text."


async def test_repeated_point_is_checked_once_and_marked_everywhere() -> None:
    llm = make_llm("partly")
    summaries = (make_summary(make_point()), make_summary(make_point()))
    checked = await check_claims(llm, make_run(), summaries, PAPERS)
    ((_, question),) = llm.requests
    assert isinstance(question, SupportQuestion)
    assert len(question.items) == 1
    assert checked.counts == ClaimCounts(supported=0, partly_supported=1, not_supported=0, contradicted=0, unchecked=0)
    outcomes = [item.strengths[0].citations[0].support for item in checked.write_into(summaries)]
    assert outcomes[0] == outcomes[1]
    assert isinstance(outcomes[0], ClaimSupport)


async def test_claims_without_verified_quotes_are_not_checked() -> None:
    llm = make_llm()
    unverified_citation = Citation(label=build_marker(A), quote="invented words", quote_state="not_found")
    point = make_point("A claim.", unverified_citation, cite(B, None))
    checked = await check_points(llm, point)
    assert (llm.requests, checked.counts) == ([], None)
    assert checked.write_into(point) == point


async def test_failed_check_leaves_claims_unchecked_with_reason() -> None:
    error: AssayerError = MalformedAnswer("The model gave no valid answer.")
    llm, run = TwinLlm(failing={"support.claims": error}), make_run()
    checked = await check_points(llm, make_point(), run=run)
    assert checked.write_into(make_point()).citations[0].support == Absent(reason=f"{error.reason}.")
    assert checked.counts
    assert checked.counts.unchecked == 1
    assert [(item.item_kind, item.count) for item in run.journal.list_dropped()] == [("support check of a claim", 1)]


async def test_verdict_based_on_words_missing_from_quote_is_discarded() -> None:
    support = await check_support(make_llm("supports", carried="halved forgetting everywhere"), make_point())
    assert isinstance(support, Absent)
    pieces = await check_support(make_llm("supports", carried="Rehearsal halved … five streams"), make_point())
    assert isinstance(pieces, ClaimSupport)


CHINESE = "我们发现重复训练在所有数据流上将遗忘减少了一半并且降低了费用"


@pytest.mark.parametrize(
    ("carried", "is_supported"),
    [
        ("重复训练在所有数据流上将遗忘减少了一半", True),
        ("重复训练 … 将遗忘减少了一半", True),
        ("重复训练在所有数据流上将遗忘增加了一半", False),
        ("遗忘减少", False),
    ],
)
async def test_verdict_may_rely_on_partial_passage_in_text_without_spaces(carried: str, is_supported: bool) -> None:
    support = await check_support(
        make_llm("supports", carried=carried),
        make_point(f"Rehearsal helps [{build_marker(A)}].", cite(A, CHINESE)),
    )
    assert isinstance(support, ClaimSupport) == is_supported


COST = "each replayed batch adds 38 percent of training time"
ASIDE = "adapters kept the accuracy of image classifiers"


def make_point_of_two_findings() -> Point:
    citation = cite(A, HALVED).model_copy(
        update={"further": (FurtherQuote(quote=COST, place="abstract"), FurtherQuote(quote=ASIDE))}
    )
    return make_point(f"Rehearsal halved forgetting at 38 percent more training time [{build_marker(A)}].", citation)


async def test_quotes_from_the_same_paper_are_checked_together() -> None:
    llm = make_llm()
    checked = await check_points(llm, make_point_of_two_findings())
    ((_, question),) = llm.requests
    assert isinstance(question, SupportQuestion)
    assert [item.passages for item in question.items] == [(HALVED, COST, ASIDE)]
    assert checked.counts
    assert checked.counts.supported == 1
    content = SUPPORT.messages(question)[1].content
    assert all(fence(entry, "passage") in content for entry in (HALVED, COST, ASIDE))


async def check_kept_quotes(llm: TwinLlm | NoLlm) -> tuple[ClaimSupport | Absent | None, list[str]]:
    checked = await check_points(llm, make_point_of_two_findings())
    citation = checked.write_into(make_point_of_two_findings()).citations[0]
    assert citation.quote == HALVED
    return citation.support, [item.quote for item in citation.further]


@pytest.mark.parametrize(
    ("carried", "expected_quotes"),
    [
        (f"{HALVED} … {COST}", [COST]),
        (f"{HALVED}\n{COST}", [COST]),
        (f"{HALVED} … {COST} … {ASIDE}", [COST, ASIDE]),
        (COST, [COST]),
        (HALVED, []),
    ],
)
async def test_only_further_quotes_used_by_the_check_are_kept(carried: str, expected_quotes: list[str]) -> None:
    support, kept_quotes = await check_kept_quotes(make_llm("supports", carried=carried))
    assert isinstance(support, ClaimSupport)
    assert kept_quotes == expected_quotes


@pytest.mark.parametrize("carried", [f"{HALVED} {COST}", f"{HALVED} … words of no passage"])
async def test_words_spanning_two_quotes_are_not_accepted_as_evidence(carried: str) -> None:
    support, kept_quotes = await check_kept_quotes(make_llm("supports", carried=carried))
    assert isinstance(support, Absent)
    assert kept_quotes == []


async def test_claim_that_asserts_nothing_about_paper_is_unrated() -> None:
    support = await check_support(make_llm("nothing_claimed"), make_point())
    assert isinstance(support, Absent)
    assert "nothing about this paper" in support.reason


async def test_passages_shared_by_several_claims_are_sent_once() -> None:
    llm = make_llm()
    point_about_replay = make_point(f"Replay is compared [{build_marker(B)}].", cite(B, NO_GAIN))
    point_about_forgetting = make_point(f"Forgetting was halved on text [{build_marker(A)}].")
    checked = await check_points(llm, make_point(), point_about_replay, point_about_forgetting)
    (question,) = llm.list_questions(SupportQuestion)
    assert [item.passage for item in question.items] == [HALVED, HALVED, NO_GAIN]
    prompt = SUPPORT.messages(question)[1].content
    assert prompt.count(HALVED) == prompt.count(NO_GAIN) == 1
    assert "[C2] as before\n<claim" in prompt
    assert len(checked.outcomes) == 3


async def test_overlapping_excerpts_of_a_paper_are_sent_once() -> None:
    llm = make_llm()
    abstract = f"We rehearse old tasks. {HALVED}. It holds for five streams of text. Costs fell by a third on all."
    papers = {**PAPERS, A: PAPERS[A].model_copy(update={"abstract": abstract})}
    cheaper = make_point(f"Rehearsal is cheap [{build_marker(A)}].", cite(A, "Costs fell by a third on all."))
    await check_claims(llm, make_run(), (make_summary(make_point(), cheaper),), papers)
    (question,) = llm.list_questions(SupportQuestion)
    assert [item.passages for item in question.items] == [(abstract,), (abstract,)]
    assert SUPPORT.messages(question)[1].content.count("It holds for five streams") == 1


def test_excerpts_are_joined_only_if_they_overlap_and_stay_short() -> None:
    sentences_between = " ".join(f"Sentence number {number} stands between them." for number in range(9))
    text = f"Bees live there. They sting. {sentences_between} It rains. It pours."
    separate_excerpts = join_excerpts(("Bees live there", "It pours"), text)
    assert separate_excerpts == {quote: cut_excerpt(quote, text) for quote in separate_excerpts}
    long = [f"Fact {number} {'word ' * 50}ends" for number in range(4)]
    text = ". ".join(long) + "."
    joined_excerpts = join_excerpts(long, text)
    assert all(quote in joined_excerpts[quote] and len(joined_excerpts[quote]) <= 700 for quote in long)


@pytest.mark.parametrize(
    ("before", "after", "fits"),
    [
        (400, 400, "after"),
        (900, 400, "after"),
        (400, 900, "before"),
        (900, 900, ""),
        (200, 300, "both"),
    ],
)
def test_excerpt_has_the_neighbour_that_fits_if_both_do_not(before: int, after: int, fits: str) -> None:
    first, last = (f"{start}{' and so on' * (size // 10)}." for start, size in (("First", before), ("Last", after)))
    middle = "Bees live in hives."
    excerpt_by_side = {
        "after": f"{middle} {last}",
        "before": f"{first} {middle}",
        "": middle,
        "both": f"{first} {middle} {last}",
    }
    assert cut_excerpt("Bees live", f"{first} {middle} {last}") == excerpt_by_side[fits]


def test_excerpt_of_a_text_with_markdown_marks_keeps_the_quote() -> None:
    text = "We present CoDa (**Co**nstrained **Da**ta). It helps. CoDa wins by 7 percent on all of them. Code is there."
    assert "CoDa wins by 7 percent" in cut_excerpt("CoDa wins by 7 percent on all of them.", text)
    assert cut_excerpt("We present CoDa (**Co**nstrained **Da**ta).", text)
