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
from tests.unit.judges import JudgeLlm, ranking_run, right
from tests.unit.twins import Watcher
from workers.embedding.hashing_embedder import HashingEmbedder
from workers.llm.settings import LlmSettings

BLIND, OPEN = RunRequest(blind=True), RunRequest(blind=False)


def signed(worth: int, leader: str) -> Idea:
    text = (
        f"Idea of worth {worth}. The project is led by Prof. {leader}. We will count seedlings in plots drawn by lot."
    )
    return parse_idea(text, f"{leader.rpartition(' ')[2].lower()}-{worth}.md", f"Plan {worth}")


def ideas() -> list[Idea]:
    """The last two differ in nothing but who leads them."""
    return [*(signed(worth, "Anna Schmidt") for worth in range(5)), signed(4, "Bo Chen")]


def ranker(llm: JudgeLlm, home: Path) -> Ranker:
    settings = Settings(
        home=home,
        llm=LlmSettings(base_url="http://host/v1", model="judge"),
        ranking=RankingSettings(comparisons_per_idea=4),
    )
    return Ranker(settings, llm, HashingEmbedder(), SystemClock())


async def ranked(
    tmp_path: Path,
    llm: JudgeLlm,
    request: RunRequest = BLIND,
    cut: int | None = None,
    scores: Mapping[IdeaId, float] | None = None,
    known: Sequence[Comparison] = (),
) -> CompletedRanking:
    wanted = RankingInputs(ideas(), cut, scores or {}, known)
    return await ranker(llm, tmp_path).rank(wanted, Watcher(), request)


async def test_blind_ranking_masks_names_from_judge_and_reports_masking(tmp_path: Path) -> None:
    llm = JudgeLlm(right)
    made = await ranked(tmp_path, llm)
    shown = " ".join(f"{item.first} {item.second}" for item in llm.asked)
    assert "[name]" in shown
    assert not any(word in shown for word in ("Anna", "Schmidt", "Chen"))
    assert made.ranking.blind
    assert {comparison.blinding_rules for comparison in made.comparisons} == {RULES}
    assert all(idea.blinding and idea.blinding.masked for idea in made.ranking.ideas)
    for text in (
        render_ranking_html(made.ranking, made.comparisons),
        render_ranking_markdown(made.ranking, made.comparisons),
    ):
        assert "judged blind: 6 names" in text


async def test_non_blind_ranking_is_labelled_and_has_different_id(tmp_path: Path) -> None:
    llm = JudgeLlm(right)
    made = await ranked(tmp_path, llm, OPEN)
    assert any("Schmidt" in item.first for item in llm.asked)
    assert made.ranking.blind is False
    assert RankingPage(made.ranking, ()).blindness == "not blind: names were shown to the judge"
    assert made.ranking.id != (await ranked(tmp_path, JudgeLlm(right))).ranking.id
    old = made.ranking.model_copy(update={"blind": None})
    assert RankingPage(old, ()).blindness is None


async def test_run_inputs_record_blinding_rules(tmp_path: Path) -> None:
    begun: list[ResultInputs] = []

    async def on_start(_: object, inputs: ResultInputs) -> None:
        begun.append(inputs)

    for blind in (True, False):
        request = RunRequest(blind=blind, on_start=on_start)
        await ranked(tmp_path, JudgeLlm(right), request)
        await ranker(JudgeLlm(right), tmp_path).compare((ideas()[0], ideas()[1]), True, Watcher(), request)
    assert [item["blinding"] for item in begun] == [RULES, RULES, None, None]


async def test_ideas_identical_after_masking_are_not_compared_and_share_strength(tmp_path: Path) -> None:
    llm = JudgeLlm(right)
    scored = {ideas()[4].id: 0.9}
    made = await ranked(tmp_path, llm, cut=1, scores=scored)
    assert all(item.first != item.second for item in llm.asked)
    best, second = made.ranking.ideas[:2]
    assert {best.id, second.id} == {ideas()[4].id, ideas()[5].id}
    assert (best.same_text_as, second.same_text_as) == ((second.id,), (best.id,))
    assert (best.strength, best.strengths, best.comparisons) == (second.strength, second.strengths, second.comparisons)
    # One place for two that nothing tells apart: people decide, and neither has the better chance.
    assert best.shortlist_probability == pytest.approx(second.shortlist_probability, abs=0.1)
    assert best.band == second.band == "human"
    (caution,) = (item for item in RankingPage(made.ranking, ()).cautions if item.title == "Identical texts")
    assert "schmidt-4.md" in caution.text
    assert "chen-4.md" in caution.text


async def test_known_comparisons_of_now_identical_texts_are_ignored() -> None:
    same = blind_idea(ideas()[4]), blind_idea(ideas()[5])
    verdict = DimensionVerdict(dimension="overall", winner="first", reason="of an earlier day")
    known = [Comparison(first=same[0].id, second=same[1].id, verdicts=(verdict,), blinding_rules=RULES)]
    made = await rank_ideas(
        [blind_idea(ideas()[0]), *same],
        JudgeLlm(right),
        ranking_run(),
        RankingOptions(comparisons_per_idea=2),
        known_comparisons=known,
    )
    assert made.ranking.judge.submitted_comparisons == 0


async def test_comparing_identical_texts_returns_tie_with_reason(tmp_path: Path) -> None:
    llm = JudgeLlm(right)
    result = await ranker(llm, tmp_path).compare((ideas()[4], ideas()[5]), True, Watcher(), BLIND)
    assert llm.calls == 0
    assert {(outcome.winner, outcome.orders_agree) for outcome in result.outcomes} == {("tie", None)}
    assert isinstance(result.unjudged, Absent)
    assert "same text" in result.unjudged.reason
    assert ComparisonResult.model_validate(result.model_dump(mode="json")) == result


async def test_comparisons_with_different_blinding_are_rejected_with_reason(tmp_path: Path) -> None:
    before = (await ranked(tmp_path, JudgeLlm(right), OPEN)).comparisons
    blind = (await ranked(tmp_path, JudgeLlm(right), BLIND)).comparisons
    path = Path("known.jsonl")
    with pytest.raises(InputError, match=r"known\.jsonl.* with the original names .* blind.*--no-blind"):
        select_comparisons_between(ideas(), before, Judging(RULES), path)
    with pytest.raises(InputError, match=r"judged blind cannot be used, because this ranking is not blind.*--blind"):
        select_comparisons_between(ideas(), blind, Judging(None), path)
    both = select_comparisons_between(ideas(), [*before, *blind], Judging(RULES), path)
    assert (both.usable, both.refused) == (list(blind), list(before))
    again = await ranked(tmp_path, JudgeLlm(right), BLIND, known=[*before, *blind])
    assert again.ranking.judge.submitted_comparisons == len(blind)


def test_idea_masked_under_older_rules_is_remasked_and_keeps_its_record() -> None:
    now = mask_idea(ideas()[0])
    assert mask_idea(now) is now
    known = MaskedText(kind="name", text="Eve Fox")
    old = ideas()[0].model_copy(update={"blinding": Blinding(rules=RULES - 1, masked=(known,))})
    again = mask_idea(old)
    assert again.blinding is not None
    assert (again.blinding.rules, again.blinding.masked[0]) == (RULES, known)
    assert "Schmidt" not in again.text


def test_labelled_ideas_of_a_blind_ranking_are_masked_as_well() -> None:
    text = "The project is led by Prof. Anna Schmidt. We will count seedlings in plots drawn by lot."
    labelled = LabelledIdea(id=IdeaId("k1"), title="Plan", text=text, label="accept", date=None)
    assert "Schmidt" not in mask_labelled_idea(labelled).text
