"""Rankings and comparisons of masked ideas: what the judge sees, what is told, what is not compared."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from assayer.blinding.blind import RULES, blind_idea
from assayer.errors import InputError
from assayer.ideas.parsing import parse_idea
from assayer.methods.grapheval.graph.records import LabelledIdea
from assayer.models import Absent, Blinding, Idea, IdeaId, MaskedText
from assayer.ranking.judged_texts import mask_idea
from assayer.ranking.known_comparisons import Judging
from assayer.ranking.options import RankingOptions
from assayer.ranking.pipeline import CompletedRanking, rank_ideas
from assayer.ranking.triage_baselines import mask_labelled_idea
from assayer.reports.ranking_page import RankingPage, render_ranking_html, render_ranking_markdown
from assayer_client.comparisons import Comparison, ComparisonResult, DimensionVerdict
from cluster.clock import SystemClock
from cluster.ranker import Ranker, RankingInputs
from cluster.ranking_inputs import select_comparisons_between
from cluster.run_request import ResultInputs, RunRequest
from cluster.settings import RankingSettings, Settings
from tests.unit.judges import JudgeLlm, judge_correctly, make_ranking_run
from tests.unit.twins import Watcher
from workers.embedding.hashing_embedder import HashingEmbedder
from workers.llm.settings import LlmSettings

BLIND, OPEN = RunRequest(blind=True), RunRequest(blind=False)


def make_signed_idea(worth: int, leader: str) -> Idea:
    text = (
        f"Idea of worth {worth}. The project is led by Prof. {leader}. We will count seedlings in plots drawn by lot."
    )
    return parse_idea(text, f"{leader.rpartition(' ')[2].lower()}-{worth}.md", f"Plan {worth}")


def make_ideas() -> list[Idea]:
    """Return ideas of which the last two differ only in their leader."""
    return [*(make_signed_idea(worth, "Anna Schmidt") for worth in range(5)), make_signed_idea(4, "Bo Chen")]


def make_ranker(llm: JudgeLlm, home_folder: Path) -> Ranker:
    settings = Settings(
        home=home_folder,
        llm=LlmSettings(base_url="http://host/v1", model="judge"),
        ranking=RankingSettings(comparisons_per_idea=4),
    )
    return Ranker(settings, llm, HashingEmbedder(), SystemClock())


async def rank(
    tmp_path: Path,
    llm: JudgeLlm,
    request: RunRequest = BLIND,
    cut: int | None = None,
    scores: Mapping[IdeaId, float] | None = None,
    known_comparisons: Sequence[Comparison] = (),
) -> CompletedRanking:
    inputs = RankingInputs(make_ideas(), cut, scores or {}, known_comparisons)
    return await make_ranker(llm, tmp_path).rank(inputs, Watcher(), request)


async def test_blind_ranking_masks_names_from_judge_and_reports_masking(tmp_path: Path) -> None:
    llm = JudgeLlm(judge_correctly)
    completed = await rank(tmp_path, llm)
    judged_texts = " ".join(f"{item.first} {item.second}" for item in llm.questions)
    assert "[name]" in judged_texts
    assert not any(word in judged_texts for word in ("Anna", "Schmidt", "Chen"))
    assert completed.ranking.blind
    assert {comparison.blinding_rules for comparison in completed.comparisons} == {RULES}
    assert all(idea.blinding and idea.blinding.masked for idea in completed.ranking.ideas)
    for text in (
        render_ranking_html(completed.ranking, completed.comparisons),
        render_ranking_markdown(completed.ranking, completed.comparisons),
    ):
        assert "judged blind: 6 names" in text


async def test_non_blind_ranking_is_labelled_and_has_different_id(tmp_path: Path) -> None:
    llm = JudgeLlm(judge_correctly)
    completed = await rank(tmp_path, llm, OPEN)
    assert any("Schmidt" in item.first for item in llm.questions)
    assert completed.ranking.blind is False
    assert RankingPage(completed.ranking, ()).blindness == "not blind: names were shown to the judge"
    assert completed.ranking.id != (await rank(tmp_path, JudgeLlm(judge_correctly))).ranking.id
    old = completed.ranking.model_copy(update={"blind": None})
    assert RankingPage(old, ()).blindness is None


async def test_run_inputs_record_blinding_rules(tmp_path: Path) -> None:
    run_inputs: list[ResultInputs] = []

    async def on_start(_: object, inputs: ResultInputs) -> None:
        run_inputs.append(inputs)

    for blind in (True, False):
        request = RunRequest(blind=blind, on_start=on_start)
        await rank(tmp_path, JudgeLlm(judge_correctly), request)
        await make_ranker(JudgeLlm(judge_correctly), tmp_path).compare(
            (make_ideas()[0], make_ideas()[1]), True, Watcher(), request
        )
    assert [item["blinding"] for item in run_inputs] == [RULES, RULES, None, None]


async def test_ideas_identical_after_masking_are_not_compared_and_share_strength(tmp_path: Path) -> None:
    llm = JudgeLlm(judge_correctly)
    scored = {make_ideas()[4].id: 0.9}
    completed = await rank(tmp_path, llm, cut=1, scores=scored)
    assert all(item.first != item.second for item in llm.questions)
    best, second = completed.ranking.ideas[:2]
    assert {best.id, second.id} == {make_ideas()[4].id, make_ideas()[5].id}
    assert (best.same_text_as, second.same_text_as) == ((second.id,), (best.id,))
    assert (best.strength, best.strengths, best.comparisons) == (second.strength, second.strengths, second.comparisons)
    # One place for two that nothing tells apart: people decide, and neither has the better chance.
    assert best.shortlist_probability == pytest.approx(second.shortlist_probability, abs=0.1)
    assert best.band == second.band == "human"
    (caution,) = (item for item in RankingPage(completed.ranking, ()).cautions if item.title == "Identical texts")
    assert "schmidt-4.md" in caution.text
    assert "chen-4.md" in caution.text


async def test_known_comparisons_of_now_identical_texts_are_ignored() -> None:
    identical_ideas = blind_idea(make_ideas()[4]), blind_idea(make_ideas()[5])
    verdict = DimensionVerdict(dimension="overall", winner="first", reason="of an earlier day")
    known_comparisons = [
        Comparison(first=identical_ideas[0].id, second=identical_ideas[1].id, verdicts=(verdict,), blinding_rules=RULES)
    ]
    completed = await rank_ideas(
        [blind_idea(make_ideas()[0]), *identical_ideas],
        JudgeLlm(judge_correctly),
        make_ranking_run(),
        RankingOptions(comparisons_per_idea=2),
        known_comparisons=known_comparisons,
    )
    assert completed.ranking.judge.submitted_comparisons == 0


async def test_comparing_identical_texts_returns_tie_with_reason(tmp_path: Path) -> None:
    llm = JudgeLlm(judge_correctly)
    result = await make_ranker(llm, tmp_path).compare((make_ideas()[4], make_ideas()[5]), True, Watcher(), BLIND)
    assert llm.calls == 0
    assert {(outcome.winner, outcome.orders_agree) for outcome in result.outcomes} == {("tie", None)}
    assert isinstance(result.unjudged, Absent)
    assert "same text" in result.unjudged.reason
    assert ComparisonResult.model_validate(result.model_dump(mode="json")) == result


async def test_comparisons_with_different_blinding_are_rejected_with_reason(tmp_path: Path) -> None:
    before = (await rank(tmp_path, JudgeLlm(judge_correctly), OPEN)).comparisons
    blind = (await rank(tmp_path, JudgeLlm(judge_correctly), BLIND)).comparisons
    path = Path("known.jsonl")
    with pytest.raises(InputError, match=r"known\.jsonl.* with the original names .* blind.*--no-blind"):
        select_comparisons_between(make_ideas(), before, Judging(RULES), path)
    with pytest.raises(InputError, match=r"judged blind cannot be used, because this ranking is not blind.*--blind"):
        select_comparisons_between(make_ideas(), blind, Judging(None), path)
    comparisons = select_comparisons_between(make_ideas(), [*before, *blind], Judging(RULES), path)
    assert (comparisons.usable, comparisons.refused) == (list(blind), list(before))
    reranked = await rank(tmp_path, JudgeLlm(judge_correctly), BLIND, known_comparisons=[*before, *blind])
    assert reranked.ranking.judge.submitted_comparisons == len(blind)


def test_idea_masked_under_older_rules_is_remasked_and_keeps_its_record() -> None:
    masked_now = mask_idea(make_ideas()[0])
    assert mask_idea(masked_now) is masked_now
    masked_name = MaskedText(kind="name", text="Eve Fox")
    old = make_ideas()[0].model_copy(update={"blinding": Blinding(rules=RULES - 1, masked=(masked_name,))})
    remasked = mask_idea(old)
    assert remasked.blinding is not None
    assert (remasked.blinding.rules, remasked.blinding.masked[0]) == (RULES, masked_name)
    assert "Schmidt" not in remasked.text


def test_labelled_ideas_of_a_blind_ranking_are_masked_as_well() -> None:
    text = "The project is led by Prof. Anna Schmidt. We will count seedlings in plots drawn by lot."
    labelled = LabelledIdea(id=IdeaId("k1"), title="Plan", text=text, label="accept", date=None)
    assert "Schmidt" not in mask_labelled_idea(labelled).text
