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
from tests.unit.judges import JudgeLlm, ideas_of_worth, ranking_run, right
from tests.unit.reports_fixture import full_report

QUOTE = "bees prefer the field with less traffic"


def point(kind: str, text: str, quote: str | None = None) -> Point:
    cited = Citation(label=Label("P1"), quote=quote, quote_state="verified" if quote else "none")
    return Point.model_validate({"kind": kind, "text": text, "citations": (cited,)})


def report() -> Report:
    summary = Summary(
        strengths=(point("strength", "It counts where others guess [P1].", QUOTE),),
        weaknesses=(point("weakness", "No control field [P1]."), point("weakness", "One summer only.")),
        suggestions=(point("suggestion", "Add a field."),),
    )
    part = Part(name="soundness", title="Soundness", score=Absent(reason="none"), summary=summary, assessments=())
    return full_report().model_copy(update={"summary": summary, "parts": (part,)})


def test_evidence_alternates_sides_with_quotes_and_without_labels_or_scores() -> None:
    made = report()
    title = made.references[0].title
    year = made.references[0].publication_date
    assert format_evidence(made, 3_000).splitlines() == [
        "For: It counts where others guess.",
        f'    "{QUOTE}": {title} ({year.year if year else "no date"})',
        "Against: No control field.",
        "    (no quote bears it out)",
        "Against: One summer only.",
        "    (no quote bears it out)",
    ]


def test_prompt_includes_evidence_only_if_available_and_marks_unread_ideas() -> None:
    bare = PairQuestion(dimensions=RankingOptions().dimensions, first="Count bees.", second="Count birds.")
    assert "literature found" not in COMPARISON.messages(bare)[1].content
    given = bare.model_copy(update={"first_evidence": "Against: No control.", "second_evidence": ""})
    text = COMPARISON.messages(given)[1].content
    assert text.index("found about idea A") < text.index("Against: No control.") < text.index("# Idea B")
    assert "Nobody read the literature for it" in text[text.index("# Idea B") :]
    assert "Go by what the quotes show" in text


async def test_judge_receives_available_evidence_and_ranking_counts_ideas_with_it() -> None:
    ideas = ideas_of_worth(4)
    llm = JudgeLlm(right)
    found = {ideas[0].id: "For: something.", ideas[1].id: ""}
    ranked = await rank_ideas(ideas, llm, ranking_run(), RankingOptions(comparisons_per_idea=3), evidence=found)
    assert ranked.ranking.ideas_with_evidence == 1
    assert all(comparison.with_evidence for comparison in ranked.comparisons)
    alone = await rank_ideas(ideas, llm, ranking_run(), RankingOptions(comparisons_per_idea=3))
    assert alone.ranking.ideas_with_evidence is None


async def test_comparisons_without_evidence_are_not_reused_in_ranking_with_evidence() -> None:
    ideas = ideas_of_worth(4)
    before = (
        await rank_ideas(ideas, JudgeLlm(right), ranking_run(), RankingOptions(comparisons_per_idea=3))
    ).comparisons
    llm = JudgeLlm(right)
    await rank_ideas(
        ideas, llm, ranking_run(), RankingOptions(comparisons_per_idea=3), known_comparisons=before, evidence={}
    )
    assert llm.calls == 12
    with pytest.raises(InputError, match=r"12 judged without the findings of reports cannot be used"):
        select_comparisons_between(ideas, before, Judging(None, with_evidence=True), Path("known.jsonl"))
    with_it = [item.model_copy(update={"with_evidence": True}) for item in before]
    assert "12 judged with the findings of reports" in explain_refused(with_it, Judging(None))


def test_report_folder_is_read_and_folder_without_reports_is_rejected(tmp_path: Path) -> None:
    made = report()
    (tmp_path / "one.json").write_text(made.model_dump_json())
    (tmp_path / "ranking.json").write_text(json.dumps({"id": "rk"}))
    read = read_evidence(tmp_path, 3_000)
    assert read.by_idea == {made.idea.id: format_evidence(made, 3_000)}
    assert read.blind == {made.idea.id: True}, "the example was judged blind"
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputError, match="contains no reports"):
        read_evidence(empty, 3_000)


def test_blind_ranking_rejects_reports_that_were_not_blind() -> None:
    ideas = ideas_of_worth(2)
    require_blind_evidence(ideas, {ideas[0].id: True, IdeaId("other"): False})
    with pytest.raises(InputError, match="judged blind, but 1 of their reports were not produced blind"):
        require_blind_evidence(ideas, {ideas[0].id: True, ideas[1].id: False})
