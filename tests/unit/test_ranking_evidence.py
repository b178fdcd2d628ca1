"""Report evidence a judge sees when ideas are compared, and inputs that are refused."""

import json
from pathlib import Path

import pytest

from assayer.errors import InputError
from assayer.models import Absent, Citation, IdeaId, Label, Part, Point, Report, Summary
from assayer.ranking.comparison import COMPARISON, PairQuestion
from assayer.ranking.known_comparisons import Judging, explain_refused
from assayer.ranking.options import RankingOptions
from assayer.ranking.pipeline import rank_ideas
from assayer.ranking.report_evidence import format_evidence, require_blind_evidence
from cluster.ranking_inputs import read_evidence, select_comparisons_between
from tests.unit.judges import JudgeLlm, judge_correctly, make_ideas_of_worth, make_ranking_run
from tests.unit.reports_fixture import make_full_report

QUOTE = "bees prefer the field with less traffic"


def make_point(kind: str, text: str, quote: str | None = None) -> Point:
    cited = Citation(label=Label("P1"), quote=quote, quote_state="verified" if quote else "none")
    return Point.model_validate({"kind": kind, "text": text, "citations": (cited,)})


def make_report() -> Report:
    summary = Summary(
        strengths=(make_point("strength", "It counts where others guess [P1].", QUOTE),),
        weaknesses=(make_point("weakness", "No control field [P1]."), make_point("weakness", "One summer only.")),
        suggestions=(make_point("suggestion", "Add a field."),),
    )
    part = Part(name="soundness", title="Soundness", score=Absent(reason="none"), summary=summary, assessments=())
    return make_full_report().model_copy(update={"summary": summary, "parts": (part,)})


def test_evidence_alternates_sides_with_quotes_and_without_labels_or_scores() -> None:
    report = make_report()
    title = report.references[0].title
    year = report.references[0].publication_date
    assert format_evidence(report, 3_000).splitlines() == [
        "For: It counts where others guess.",
        f'    "{QUOTE}": {title} ({year.year if year else "no date"})',
        "Against: No control field.",
        "    (no quote bears it out)",
        "Against: One summer only.",
        "    (no quote bears it out)",
    ]


def test_prompt_includes_evidence_only_if_available_and_marks_unread_ideas() -> None:
    question_without_evidence = PairQuestion(
        dimensions=RankingOptions().dimensions, first="Count bees.", second="Count birds."
    )
    assert "literature found" not in COMPARISON.messages(question_without_evidence)[1].content
    question_with_evidence = question_without_evidence.model_copy(
        update={"first_evidence": "Against: No control.", "second_evidence": ""}
    )
    text = COMPARISON.messages(question_with_evidence)[1].content
    assert text.index("found about idea A") < text.index("Against: No control.") < text.index("# Idea B")
    assert "Nobody read the literature for it" in text[text.index("# Idea B") :]
    assert "Go by what the quotes show" in text


async def test_judge_receives_available_evidence_and_ranking_counts_ideas_with_it() -> None:
    ideas = make_ideas_of_worth(4)
    llm = JudgeLlm(judge_correctly)
    evidence_by_idea = {ideas[0].id: "For: something.", ideas[1].id: ""}
    ranked = await rank_ideas(
        ideas, llm, make_ranking_run(), RankingOptions(comparisons_per_idea=3), evidence=evidence_by_idea
    )
    assert ranked.ranking.ideas_with_evidence == 1
    assert all(comparison.with_evidence for comparison in ranked.comparisons)
    ranking_without_evidence = await rank_ideas(ideas, llm, make_ranking_run(), RankingOptions(comparisons_per_idea=3))
    assert ranking_without_evidence.ranking.ideas_with_evidence is None


async def test_comparisons_without_evidence_are_not_reused_in_ranking_with_evidence() -> None:
    ideas = make_ideas_of_worth(4)
    before = (
        await rank_ideas(ideas, JudgeLlm(judge_correctly), make_ranking_run(), RankingOptions(comparisons_per_idea=3))
    ).comparisons
    llm = JudgeLlm(judge_correctly)
    await rank_ideas(
        ideas, llm, make_ranking_run(), RankingOptions(comparisons_per_idea=3), known_comparisons=before, evidence={}
    )
    assert llm.calls == 12
    with pytest.raises(InputError, match=r"12 judged without the findings of reports cannot be used"):
        select_comparisons_between(ideas, before, Judging(None, with_evidence=True), Path("known.jsonl"))
    with_it = [item.model_copy(update={"with_evidence": True}) for item in before]
    assert "12 judged with the findings of reports" in explain_refused(with_it, Judging(None))


def test_report_folder_is_read_and_folder_without_reports_is_rejected(tmp_path: Path) -> None:
    report = make_report()
    (tmp_path / "one.json").write_text(report.model_dump_json())
    (tmp_path / "ranking.json").write_text(json.dumps({"id": "rk"}))
    read = read_evidence(tmp_path, 3_000)
    assert read.by_idea == {report.idea.id: format_evidence(report, 3_000)}
    assert read.blind == {report.idea.id: True}, "the example was judged blind"
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputError, match="contains no reports"):
        read_evidence(empty, 3_000)


def test_blind_ranking_rejects_reports_that_were_not_blind() -> None:
    ideas = make_ideas_of_worth(2)
    require_blind_evidence(ideas, {ideas[0].id: True, IdeaId("other"): False})
    with pytest.raises(InputError, match="judged blind, but 1 of their reports were not produced blind"):
        require_blind_evidence(ideas, {ideas[0].id: True, ideas[1].id: False})
