"""The export gate: what a report lacks for a total, and that an incomplete one carries none anywhere."""

import pytest

from assayer.methods.innoeval.options import BoardOptions
from assayer.models import (
    Absent,
    Assessment,
    Citation,
    ClaimCounts,
    ClaimSupport,
    CorpusFit,
    MinimumName,
    Point,
    ReleaseMinima,
    Report,
    Score,
    Summary,
    SupportOutcome,
)
from assayer.reports.brief import BRIEF_SIZES, build_brief
from assayer.reports.html import render_html
from assayer.reports.json_and_csv import render_json
from assayer.reports.markdown import render_report_markdown
from assayer.reports.release import apply_minima, measure_release
from assayer.reports.scores import compute_total_score
from cluster.cli.evaluation_summary import SummaryRow, show_summary
from tests.unit.board_reports import DECISION, make_board_report
from tests.unit.reports_fixture import cite, make_full_report, make_point
from tests.unit.reports_review import make_review_report
from tests.unit.verdict_reports import VERDICT

MINIMA = ReleaseMinima()
ANYTHING = ReleaseMinima(corpus_fit="poor", judged=0, answered=0, quotes_found=0, points_traced=0, claims_supported=0)
UNSCORED = Absent(reason="Not reviewed: the answer was no use.")


def replace_coverage(report: Report, **update: object) -> Report:
    return report.model_copy(update={"coverage": report.coverage.model_copy(update=update)})


def replace_assessments(report: Report, *assessments: Assessment) -> Report:
    part = report.parts[0].model_copy(update={"assessments": assessments})
    return report.model_copy(update={"parts": (part,)})


def make_assessment(score: Score | Absent, *points: Point) -> Assessment:
    return Assessment(name="A method", statement="It is.", score=score, points=points, readings=())


def list_failed_minima(report: Report, minima: ReleaseMinima = MINIMA) -> list[MinimumName]:
    return [item.name for item in measure_release(report, minima).failed]


def make_poorly_quoted_report() -> Report:
    return apply_minima(replace_coverage(make_full_report(), quotes_verified=3, quotes_unverified=7), MINIMA)


def test_report_above_every_minimum_keeps_its_totals() -> None:
    report = apply_minima(make_full_report(), MINIMA)
    assert report.release is not None
    assert report.release.state == "complete"
    assert report.parts == make_full_report().parts
    assert compute_total_score(report) == compute_total_score(make_full_report())


@pytest.mark.parametrize(("searched", "failing"), [("poor", ["corpus_fit"]), ("partial", []), (None, ["corpus_fit"])])
def test_field_without_search_coverage_fails_corpus_fit_minimum(searched: str | None, failing: list[str]) -> None:
    poor = CorpusFit(level="poor", value=0.2, criterion="mean cosine")
    assert list_failed_minima(replace_coverage(make_full_report(), corpus_fit=poor, field_coverage=searched)) == failing


def test_panel_review_keeps_scores_when_corpus_fit_is_poor() -> None:
    poor = CorpusFit(level="poor", value=0.2, criterion="mean cosine")
    report = apply_minima(
        replace_coverage(make_review_report(), corpus_fit=poor, field_coverage="poor", llm_requests_failed=90), MINIMA
    )
    assert list_failed_minima(report) == ["answered"]
    assert report.parts == make_review_report().parts


def test_incomplete_panel_review_is_reported_with_its_scores(capsys: pytest.CaptureFixture[str]) -> None:
    report = apply_minima(replace_coverage(make_review_report(), llm_requests_failed=90), MINIMA)
    show_summary(report)
    brief = " ".join(line.text for line in build_brief(report, BRIEF_SIZES[-1]).warnings)
    for text in (render_html(report), render_report_markdown(report), brief, capsys.readouterr().out):
        assert "not ordered by its scores" in text
        assert "no total" not in text


def test_part_with_lowest_scored_share_determines_judged_minimum() -> None:
    report = make_full_report()
    half_scored = replace_assessments(report, make_assessment(Score(value=4, basis="b")), make_assessment(UNSCORED))
    assert list_failed_minima(half_scored) == []
    poor = half_scored.parts[0].model_copy(
        update={"assessments": (*half_scored.parts[0].assessments, make_assessment(UNSCORED))}
    )
    mixed = report.model_copy(update={"parts": (report.parts[1], poor)})
    (lacking,) = measure_release(mixed, MINIMA).failed
    assert (lacking.name, lacking.measured, lacking.minimum) == ("judged", 0.3333, 0.5)
    assert lacking.basis == "With a score: Contribution: 3 of 3; Soundness: 1 of 3."


def test_points_whose_quotes_were_all_lost_are_not_traced() -> None:
    score = Score(value=4, basis="b")
    found_point, lost_point = (
        make_point("support", "It holds [P1].", cite("P1")),
        make_point("support", "It holds [P3].", cite("P3", "not_found")),
    )
    unquoted_point = make_point("support", "It holds [P4].", cite("P4", "none"))
    assert (
        list_failed_minima(
            replace_assessments(make_full_report(), make_assessment(score, found_point, lost_point, unquoted_point))
        )
        == []
    )
    (lacking,) = measure_release(
        replace_assessments(make_full_report(), make_assessment(score, found_point, lost_point, lost_point)), MINIMA
    ).failed
    assert (lacking.name, lacking.basis) == ("points_traced", "1 of 3 points with quotes.")


def make_checked_citation(outcome: SupportOutcome = "supports") -> Citation:
    return cite("P1").model_copy(update={"support": ClaimSupport(outcome=outcome, missing="")})


def test_too_few_supported_claims_withhold_total() -> None:
    counts = {"supported": 2, "partly_supported": 2, "not_supported": 4, "contradicted": 1, "unchecked": 30}
    point = make_point("support", "It holds [P1].", make_checked_citation())
    report = replace_coverage(
        replace_assessments(make_full_report(), make_assessment(Score(value=4, basis="b"), point)),
        claims=ClaimCounts(**counts),
    )
    assert list_failed_minima(report) == ["claims_supported"]
    last = measure_release(report, MINIMA).minima[-1]
    assert (last.measured, last.basis) == (0.4444, "4 of 9 checked claims, 2 of them in part.")


def test_total_is_withheld_when_no_claim_could_be_checked() -> None:
    unchecked = cite("P1").model_copy(update={"support": Absent(reason="the answer was no use.")})
    report = replace_assessments(
        make_full_report(),
        make_assessment(Score(value=4, basis="b"), make_point("support", "It holds [P1].", unchecked)),
    )
    counts = ClaimCounts(supported=0, partly_supported=0, not_supported=0, contradicted=0, unchecked=7)
    (lacking,) = measure_release(replace_coverage(report, claims=counts), MINIMA).failed
    assert (lacking.name, lacking.basis) == ("claims_supported", "None of 7 claims could be checked.")
    assert list_failed_minima(replace_coverage(report, claims=counts), ANYTHING) == []


def test_minima_without_data_do_not_block_release() -> None:
    minimal_report = replace_assessments(make_full_report(), make_assessment(Score(value=9, basis="b")))
    minimal_report = minimal_report.model_copy(update={"summary": Summary(strengths=(), weaknesses=(), suggestions=())})
    release = measure_release(
        replace_coverage(minimal_report, quotes_verified=0, quotes_unverified=0, llm_requests=0), MINIMA
    )
    assert release.state == "complete"
    assert [item.name for item in release.minima if isinstance(item.measured, Absent)] == [
        "answered",
        "quotes_found",
        "points_traced",
        "claims_supported",
    ]


def test_every_minimum_can_be_switched_off() -> None:
    lost_point = make_point("support", "No.", cite("P3", "not_found"))
    unsupported = make_point("support", "No [P1].", make_checked_citation("not"))
    worst = replace_coverage(
        replace_assessments(make_full_report(), make_assessment(UNSCORED, lost_point, lost_point, unsupported)),
        corpus_fit=CorpusFit(level="poor", value=0.1, criterion="c"),
        llm_requests=0,
        llm_requests_failed=9,
        quotes_verified=0,
        quotes_unverified=9,
        claims=ClaimCounts(supported=0, partly_supported=0, not_supported=1, contradicted=0, unchecked=0),
    )
    assert len(list_failed_minima(worst)) == len(ReleaseMinima.model_fields)
    assert list_failed_minima(worst, ANYTHING) == []


def test_incomplete_report_has_no_total_but_keeps_findings() -> None:
    report = make_poorly_quoted_report()
    assert report.release is not None
    assert report.release.state == "incomplete"
    assert report.parts[0].score == Absent(
        reason="the report is incomplete (too low: quotes found), so no total is given."
    )
    for part, before in zip(report.parts, make_full_report().parts, strict=True):
        assert (part.assessments, part.summary) == (before.assessments, before.summary)
    score = compute_total_score(report)
    assert isinstance(score, Absent)
    assert score.reason == "Its report is incomplete (too low for a total: quotes found)."
    assert Report.model_validate_json(render_json(report)) == report


async def test_incomplete_board_has_neither_score_nor_interval_nor_decision() -> None:
    report = await make_board_report(BoardOptions(board=3))
    assert report.board is not None
    decided = report.model_copy(update={"board": report.board.model_copy(update={"decision": DECISION})})
    board = apply_minima(replace_coverage(decided, llm_requests_failed=1_000), MINIMA).board
    assert board is not None
    withheld = Absent(reason="the report is incomplete (too low: questions answered), so no total is given.")
    assert (board.score, board.interval, board.decision) == (withheld,) * 3
    assert (board.agreement, board.meta_review) == (report.board.agreement, report.board.meta_review)
    assert apply_minima(replace_coverage(report, llm_requests_failed=1_000), MINIMA).board == board.model_copy(
        update={"decision": report.board.decision}
    )


def test_incomplete_report_withholds_verdict_but_keeps_abstention_reason() -> None:
    report = make_full_report().model_copy(update={"parts": (), "verdict": VERDICT})
    assert apply_minima(report, MINIMA) == report.model_copy(update={"release": measure_release(report, MINIMA)})
    lossy = replace_coverage(report, llm_requests=1, llm_requests_failed=9)
    verdict = apply_minima(lossy, MINIMA).verdict
    assert verdict is not None
    assert not isinstance(verdict, Absent)
    assert isinstance(verdict.decision, Absent)
    assert verdict.probabilities == ()
    assert verdict.evidence == VERDICT.evidence
    assert "Probabilities of the outcomes" not in render_report_markdown(apply_minima(lossy, MINIMA))
    assert isinstance(compute_total_score(apply_minima(lossy, MINIMA)), Absent)
    abstained = VERDICT.model_copy(update={"decision": Absent(reason="undecided.")})
    assert apply_minima(lossy.model_copy(update={"verdict": abstained}), MINIMA).verdict == abstained.model_copy(
        update={"probabilities": ()}
    )


def test_incomplete_state_is_shown_first_in_pages_and_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    report = make_poorly_quoted_report()
    minimum_label = "Quotes found:"
    for text in (render_html(report), render_report_markdown(report)):
        assert (
            text.index("Incomplete: no total is given")
            < text.index(minimum_label)
            < text.index(report.notices[0].text[:30])
        )
        assert "30 %" in text
        assert "3 of 10 quotes." in text
        assert "Minima for a total" in text
    show_summary(report)
    output = capsys.readouterr().out
    assert output.index(
        "Incomplete, no total is given: Quotes found 30 %, minimum 70 %. 3 of 10 quotes."
    ) < output.index("!")
    assert ("Release", "incomplete") in SummaryRow.from_report(report, [__file__]).figures  # type: ignore[list-item]
