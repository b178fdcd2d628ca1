"""A reward as a page and as Markdown: every vote, quote and reason is told, nothing from outside is carried out."""

from assayer.methods.debate.composition import get_composition
from assayer.methods.debate.judge import judge_by_debate
from assayer.models.reward import RewardItem
from assayer.reports.debate_page import DebatePage, render_debate_html, render_debate_markdown
from assayer_client.rewards import Reward
from tests.unit.debate_answers import ITEM, ScriptedSeats
from tests.unit.reports_document import Document
from tests.unit.reports_hostile import ATTACK
from tests.unit.twins import make_run

FULL = get_composition("moderator-two-analysts-critic-evaluator")


async def judge(item: RewardItem = ITEM) -> Reward:
    return await judge_by_debate(item, FULL, ScriptedSeats({("critic", 1): "nn"}), make_run())


async def test_page_shows_rounds_votes_quotes_and_final_decision() -> None:
    reward = await judge()
    assert reward.value == 1
    for text in (Document(render_debate_html(ITEM, reward)).text, render_debate_markdown(ITEM, reward)):
        assert "Round 1" in text
        assert "Round 2: the verdict was settled here" in text
        assert "The evaluator settled a split in round 2: it matches." in text
        assert text.count("votes: no match") == 2
        assert text.count("votes: match") == 6
        assert text.count("A moderator has no vote.") == 2
        assert text.count("✓ found in the abstract") == text.count("✗ not found in the idea") == 8
        assert "8 of 16 quotes found" in text


async def test_votes_of_all_rounds_are_shown_in_a_single_table() -> None:
    page = DebatePage(ITEM, await judge())
    votes_by_seat = {
        line.seat: [page.get_shown_vote(turn).short if turn else None for turn in line.turns] for line in page.seats
    }
    assert votes_by_seat == {
        "Moderator 1": ["no vote"] * 2,
        "Analyst 1": ["✓ match"] * 2,
        "Analyst 2": ["✓ match"] * 2,
        "Critic 1": ["✗ no match"] * 2,
        "Evaluator 1": ["✓ match"] * 2,
    }


async def test_guard_stop_and_missing_verdict_are_labelled() -> None:
    copied_item = ITEM.model_copy(update={"idea": ITEM.abstract})
    page = DebatePage(copied_item, await judge(copied_item))
    assert (page.verdict, page.look) == ("Matches because of leakage; earns nothing", "poor")
    assert page.decided_by == "the guard copied abstract, before any call"
    unable = ITEM.model_copy(update={"abstract": " "})
    assert DebatePage(unable, await judge(unable)).verdict == "No reward"


async def test_hostile_text_is_escaped_in_html_and_markdown() -> None:
    reward = await judge()
    hostile_item = ITEM.model_copy(update={"question": ATTACK, "idea": ATTACK, "abstract": ATTACK})
    turns = tuple(
        turn.model_copy(
            update={
                "argument": ATTACK,
                "quotes": tuple(quote.model_copy(update={"text": ATTACK}) for quote in turn.quotes),
            }
        )
        for turn in reward.transcript
    )
    attacked = reward.model_copy(update={"reason": ATTACK, "transcript": turns, "models": (ATTACK,)})
    document = Document(render_debate_html(hostile_item, attacked))
    assert not {"script", "img", "form", "iframe"} & set(document.tags)
    assert not any(name.startswith("on") for name in document.attributes)
    assert [link for link in document.links if not link.startswith("#")] == []
    assert "default-src 'none'" in document.meta["Content-Security-Policy"]
    assert "](http" not in render_debate_markdown(hostile_item, attacked).replace("\\](", "")
