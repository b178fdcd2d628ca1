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
from tests.unit.twins import Answerer, TwinLlm, a_run

A, B = PaperId("a"), PaperId("b")
HALVED = "rehearsal halved forgetting on five streams of text"
NO_GAIN = "we found no gain over uniform replay on images"


def _paper(paper: PaperId) -> Paper:
    return Paper(id=paper, title=f"Title of\n{paper}", abstract="", url="https://example.org", source="corpus")


PAPERS = {A: _paper(A), B: _paper(B)}


def _cite(paper: PaperId, quote: str | None) -> Citation:
    return Citation(label=build_marker(paper), quote=quote, quote_state="verified" if quote else "none")


def _point(text: str = f"Rehearsal helps [{build_marker(A)}].", *citations: Citation) -> Point:
    return Point(kind="strength", text=text, citations=citations or (_cite(A, HALVED),))


def _summary(*points: Point) -> Summary:
    return Summary(strengths=points, weaknesses=(), suggestions=())


def _answering(outcome: str, carried: str = HALVED, missing: str = "") -> Mapping[str, Answerer]:
    def answer(question: BaseModel) -> BaseModel:
        assert isinstance(question, SupportQuestion)
        fields = {"carried": carried, "missing": missing, "outcome": outcome}
        return SupportAnswer(
            verdicts=[SupportVerdict.model_validate({"label": item.label, **fields}) for item in question.items]
        )

    return {"support.claims": answer}


def _llm(outcome: str = "supports", carried: str = HALVED, missing: str = "") -> TwinLlm:
    return TwinLlm(_answering(outcome, carried, missing))


async def _checked(llm: TwinLlm | NoLlm, *points: Point, run: Run | None = None) -> CheckedClaims:
    return await check_claims(llm, run or a_run(), (_summary(*points),), PAPERS)


async def _support_of(llm: TwinLlm | NoLlm, point: Point) -> ClaimSupport | Absent | None:
    checked = await _checked(llm, point)
    return checked.write_into(point).citations[0].support


@pytest.mark.parametrize("outcome", ["supports", "partly", "not", "contradicts"])
async def test_support_outcome_is_recorded_on_citation(outcome: str) -> None:
    support = await _support_of(_llm(outcome, missing="Says nothing of images."), _point())
    assert isinstance(support, ClaimSupport)
    assert support.outcome == outcome
    assert support.missing == ("" if outcome == "supports" else "Says nothing of images.")


async def test_model_sees_source_placeholders_instead_of_paper_markers() -> None:
    llm = _llm()
    text = f"Rehearsal helps [{build_marker(A)}] but not with images [{build_marker(B)}]."
    await _checked(llm, _point(text, _cite(A, HALVED), _cite(B, NO_GAIN)))
    ((_, question),) = llm.asked
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
    llm = _llm()
    abstract = f"We rehearse old tasks. {HALVED}. It holds for five streams of text. Nothing else was tried."
    papers = {**PAPERS, A: PAPERS[A].model_copy(update={"abstract": abstract})}
    await check_claims(llm, a_run(), (_summary(_point()),), papers)
    ((_, question),) = llm.asked
    assert isinstance(question, SupportQuestion)
    assert question.items[0].passage == f"We rehearse old tasks. {HALVED}. It holds for five streams of text."


async def test_repeated_point_is_checked_once_and_marked_everywhere() -> None:
    llm = _llm("partly")
    summaries = (_summary(_point()), _summary(_point()))
    checked = await check_claims(llm, a_run(), summaries, PAPERS)
    ((_, question),) = llm.asked
    assert isinstance(question, SupportQuestion)
    assert len(question.items) == 1
    assert checked.counts == ClaimCounts(supported=0, partly_supported=1, not_supported=0, contradicted=0, unchecked=0)
    outcomes = [item.strengths[0].citations[0].support for item in checked.write_into(summaries)]
    assert outcomes[0] == outcomes[1]
    assert isinstance(outcomes[0], ClaimSupport)


async def test_claims_without_verified_quotes_are_not_checked() -> None:
    llm = _llm()
    lost = Citation(label=build_marker(A), quote="invented words", quote_state="not_found")
    point = _point("A claim.", lost, _cite(B, None))
    checked = await _checked(llm, point)
    assert (llm.asked, checked.counts) == ([], None)
    assert checked.write_into(point) == point


async def test_failed_check_leaves_claims_unchecked_with_reason() -> None:
    error: AssayerError = MalformedAnswer("The model gave no valid answer.")
    llm, run = TwinLlm(failing={"support.claims": error}), a_run()
    checked = await _checked(llm, _point(), run=run)
    assert checked.write_into(_point()).citations[0].support == Absent(reason=f"{error.reason}.")
    assert checked.counts
    assert checked.counts.unchecked == 1
    assert [(item.item_kind, item.count) for item in run.journal.list_dropped()] == [("support check of a claim", 1)]


async def test_verdict_based_on_words_missing_from_quote_is_discarded() -> None:
    support = await _support_of(_llm("supports", carried="halved forgetting everywhere"), _point())
    assert isinstance(support, Absent)
    pieces = await _support_of(_llm("supports", carried="Rehearsal halved … five streams"), _point())
    assert isinstance(pieces, ClaimSupport)


CHINESE = "我们发现重复训练在所有数据流上将遗忘减少了一半并且降低了费用"


@pytest.mark.parametrize(
    ("carried", "rests"),
    [
        ("重复训练在所有数据流上将遗忘减少了一半", True),
        ("重复训练 … 将遗忘减少了一半", True),
        ("重复训练在所有数据流上将遗忘增加了一半", False),
        ("遗忘减少", False),
    ],
)
async def test_verdict_may_rely_on_partial_passage_in_text_without_spaces(carried: str, rests: bool) -> None:
    support = await _support_of(
        _llm("supports", carried=carried), _point(f"Rehearsal helps [{build_marker(A)}].", _cite(A, CHINESE))
    )
    assert isinstance(support, ClaimSupport) == rests


COST = "each replayed batch adds 38 percent of training time"
ASIDE = "adapters kept the accuracy of image classifiers"


def _of_two_findings() -> Point:
    citation = _cite(A, HALVED).model_copy(
        update={"further": (FurtherQuote(quote=COST, place="abstract"), FurtherQuote(quote=ASIDE))}
    )
    return _point(f"Rehearsal halved forgetting at 38 percent more training time [{build_marker(A)}].", citation)


async def test_quotes_from_the_same_paper_are_checked_together() -> None:
    llm = _llm()
    checked = await _checked(llm, _of_two_findings())
    ((_, question),) = llm.asked
    assert isinstance(question, SupportQuestion)
    assert [item.passages for item in question.items] == [(HALVED, COST, ASIDE)]
    assert checked.counts
    assert checked.counts.supported == 1
    content = SUPPORT.messages(question)[1].content
    assert all(fence(entry, "passage") in content for entry in (HALVED, COST, ASIDE))


async def _kept(llm: TwinLlm | NoLlm) -> tuple[ClaimSupport | Absent | None, list[str]]:
    checked = await _checked(llm, _of_two_findings())
    citation = checked.write_into(_of_two_findings()).citations[0]
    assert citation.quote == HALVED
    return citation.support, [item.quote for item in citation.further]


@pytest.mark.parametrize(
    ("carried", "kept"),
    [
        (f"{HALVED} … {COST}", [COST]),
        (f"{HALVED}\n{COST}", [COST]),
        (f"{HALVED} … {COST} … {ASIDE}", [COST, ASIDE]),
        (COST, [COST]),
        (HALVED, []),
    ],
)
async def test_only_further_quotes_used_by_the_check_are_kept(carried: str, kept: list[str]) -> None:
    support, found = await _kept(_llm("supports", carried=carried))
    assert isinstance(support, ClaimSupport)
    assert found == kept


@pytest.mark.parametrize("carried", [f"{HALVED} {COST}", f"{HALVED} … words of no passage"])
async def test_words_spanning_two_quotes_are_not_accepted_as_evidence(carried: str) -> None:
    support, found = await _kept(_llm("supports", carried=carried))
    assert isinstance(support, Absent)
    assert found == []


async def test_claim_that_asserts_nothing_about_paper_is_left_unrated() -> None:
    support = await _support_of(_llm("nothing_claimed"), _point())
    assert isinstance(support, Absent)
    assert "nothing about this paper" in support.reason


async def test_passages_shared_by_several_claims_are_sent_once() -> None:
    llm = _llm()
    other = _point(f"Replay is compared [{build_marker(B)}].", _cite(B, NO_GAIN))
    again = _point(f"Forgetting was halved on text [{build_marker(A)}].")
    checked = await _checked(llm, _point(), other, again)
    (question,) = llm.questions(SupportQuestion)
    assert [item.passage for item in question.items] == [HALVED, HALVED, NO_GAIN]
    prompt = SUPPORT.messages(question)[1].content
    assert prompt.count(HALVED) == prompt.count(NO_GAIN) == 1
    assert "[C2] as before\n<claim" in prompt
    assert len(checked.outcomes) == 3


async def test_overlapping_excerpts_of_a_paper_are_sent_once() -> None:
    llm = _llm()
    abstract = f"We rehearse old tasks. {HALVED}. It holds for five streams of text. Costs fell by a third on all."
    papers = {**PAPERS, A: PAPERS[A].model_copy(update={"abstract": abstract})}
    cheaper = _point(f"Rehearsal is cheap [{build_marker(A)}].", _cite(A, "Costs fell by a third on all."))
    await check_claims(llm, a_run(), (_summary(_point(), cheaper),), papers)
    (question,) = llm.questions(SupportQuestion)
    assert [item.passages for item in question.items] == [(abstract,), (abstract,)]
    assert SUPPORT.messages(question)[1].content.count("It holds for five streams") == 1


def test_excerpts_are_joined_only_if_they_overlap_and_stay_short() -> None:
    far = " ".join(f"Sentence number {number} stands between them." for number in range(9))
    text = f"Bees live there. They sting. {far} It rains. It pours."
    apart = join_excerpts(("Bees live there", "It pours"), text)
    assert apart == {quote: cut_excerpt(quote, text) for quote in apart}
    long = [f"Fact {number} {'word ' * 50}ends" for number in range(4)]
    text = ". ".join(long) + "."
    found = join_excerpts(long, text)
    assert all(quote in found[quote] and len(found[quote]) <= 700 for quote in long)


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
    shown = {"after": f"{middle} {last}", "before": f"{first} {middle}", "": middle, "both": f"{first} {middle} {last}"}
    assert cut_excerpt("Bees live", f"{first} {middle} {last}") == shown[fits]


def test_excerpt_of_a_text_with_markdown_marks_keeps_the_quote() -> None:
    text = "We present CoDa (**Co**nstrained **Da**ta). It helps. CoDa wins by 7 percent on all of them. Code is there."
    assert "CoDa wins by 7 percent" in cut_excerpt("CoDa wins by 7 percent on all of them.", text)
    assert cut_excerpt("We present CoDa (**Co**nstrained **Da**ta).", text)
