"""The rules of a debate: who speaks, what settles it, and that stopping early never changes the verdict."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.methods.debate.composition import COMPOSITIONS, Composition, Seat, get_composition
from assayer.methods.debate.rounds import Ballot, Debate, DebateOutcome

Table = Mapping[tuple[int, Seat], Ballot]
"""Ballot of every seat in every round."""

VOTES: tuple[Ballot, ...] = ("match", "no_match")
_DEFAULT = get_composition("two-analysts-evaluator")


def hold_debate(chosen: Composition, table: Table) -> Debate:
    debate = Debate(chosen)
    while debate.speaking:
        debate = debate.cast_ballots([table[debate.round, seat] for seat in debate.speaking])
    return debate


def compute_full_verdict(chosen: Composition, table: Table) -> str:
    """Return the verdict of the debate if it continues to its end, read from the whole table."""
    for number in range(1, chosen.rounds + 1):
        ballots = {seat: table[number, seat] for group in chosen.groups for seat in group}
        if "halt" in ballots.values():
            return "no_match"
        votes = [ballots[seat] for seat in chosen.voters]
        if votes.count("match") == len(votes):
            return "match"
        if votes.count("no_match") == len(votes):
            return "no_match"
    evaluators = [vote for seat, vote in ballots.items() if seat.role == "evaluator"]
    other_votes = [vote for seat, vote in ballots.items() if seat.role in ("analyst", "critic")]
    if (
        evaluators
        and evaluators.count("match") == len(evaluators)
        and other_votes.count("match") >= len(other_votes) / 2
    ):
        return "match"
    return "no_match"


@st.composite
def draw_composition(draw: st.DrawFn) -> Composition:
    """Draw a built-in or random composition of one to four rounds."""
    rounds = draw(st.integers(1, 4))
    if draw(st.booleans()):
        return draw(st.sampled_from(sorted(COMPOSITIONS.values(), key=lambda item: item.name))).model_copy(
            update={"rounds": rounds}
        )
    sizes = {role: draw(st.integers(0, 3)) for role in ("analysts", "critics", "evaluators")}
    if not any(sizes.values()):
        sizes["analysts"] = 1
    return Composition(name="own", moderators=draw(st.integers(0, 1)), rounds=rounds, **sizes)


@st.composite
def draw_table(draw: st.DrawFn, may_lose: bool = False) -> tuple[Composition, Table]:
    chosen = draw(draw_composition())
    lost_ballots: tuple[Ballot, ...] = ("lost",) if may_lose else ()
    moderated: tuple[Ballot, ...] = ("go_on", "go_on", "go_on", "halt")
    return chosen, {
        (number, seat): draw(st.sampled_from((moderated if seat.role == "moderator" else VOTES * 3) + lost_ballots))
        for number in range(1, chosen.rounds + 1)
        for group in chosen.groups
        for seat in group
    }


def make_uniform_table(chosen: Composition, vote: Ballot) -> dict[tuple[int, Seat], Ballot]:
    return {
        (number, seat): "go_on" if seat.role == "moderator" else vote
        for number in range(1, chosen.rounds + 1)
        for group in chosen.groups
        for seat in group
    }


@given(draw_table())
def test_early_stopping_gives_the_same_verdict_as_full_debate(case: tuple[Composition, Table]) -> None:
    debate = hold_debate(*case)
    assert debate.outcome is not None
    assert debate.outcome.vote == compute_full_verdict(*case)
    assert len(debate.ballots) <= case[0].max_calls


@given(draw_table(may_lose=True), st.data())
def test_verdict_does_not_depend_on_lost_or_unheard_ballots(
    case: tuple[Composition, Table], data: st.DataObject
) -> None:
    chosen, table = case
    outcome = hold_debate(chosen, table).outcome
    assert outcome is not None
    if outcome.vote is None:
        assert outcome.ground == "lost"
        return
    moderated: tuple[Ballot, ...] = ("go_on",)
    filled = {
        (number, seat): data.draw(st.sampled_from(moderated if seat.role == "moderator" else VOTES))
        if ballot == "lost"
        else ballot
        for (number, seat), ballot in table.items()
    }
    assert outcome.vote == compute_full_verdict(chosen, filled)


@given(draw_table())
def test_debate_continues_only_while_both_verdicts_are_possible(case: tuple[Composition, Table]) -> None:
    chosen, table = case
    debate = Debate(chosen)
    while debate.speaking:
        for vote in VOTES:
            later_ballots = make_uniform_table(chosen, vote)
            alternative = debate
            while alternative.speaking:
                alternative = alternative.cast_ballots(
                    [later_ballots[alternative.round, seat] for seat in alternative.speaking]
                )
            # A round that is already split is no agreement, so that the last round is what everything hangs on.
            assert alternative.outcome is not None
            assert alternative.outcome.vote == vote
        debate = debate.cast_ballots([table[debate.round, seat] for seat in debate.speaking])


@pytest.mark.parametrize("chosen", COMPOSITIONS.values(), ids=lambda item: item.name)
@pytest.mark.parametrize("vote", VOTES)
def test_unanimous_debate_saves_at_least_a_quarter_of_calls(chosen: Composition, vote: Ballot) -> None:
    debate = hold_debate(chosen, make_uniform_table(chosen, vote))
    assert debate.outcome == DebateOutcome("match" if vote == "match" else "no_match", 1, "agreed")
    assert len(debate.ballots) <= 0.75 * chosen.max_calls


def test_seats_of_a_role_speak_in_parallel_and_roles_in_sequence() -> None:
    debate = Debate(get_composition("moderator-two-analysts-critic-evaluator"))
    script: tuple[tuple[Ballot, ...], ...] = (("go_on",), ("match", "match"), ("no_match",), ("match",))
    order: list[tuple[Seat, ...]] = []
    for ballots in script:
        order.append(debate.speaking)
        assert debate.round == 1
        debate = debate.cast_ballots(ballots)
    assert [[seat.role for seat in group] for group in order] == [
        ["moderator"],
        ["analyst", "analyst"],
        ["critic"],
        ["evaluator"],
    ]
    assert (debate.round, debate.speaking) == (2, (Seat("moderator", 1),))


def test_evaluator_breaks_ties_but_cannot_overrule_a_majority() -> None:
    split = Debate(_DEFAULT, ("match", "no_match", "match"))
    assert split.outcome is None
    assert split.cast_ballots(["no_match", "match"]).cast_ballots(["match"]).outcome == DebateOutcome(
        "match", 2, "evaluators"
    )
    both_against = split.cast_ballots(["no_match", "no_match"])
    assert both_against.outcome == DebateOutcome("no_match", 2, "disagreed")
    assert len(both_against.ballots) == _DEFAULT.max_calls - 1


def test_a_moderator_who_halts_ends_the_debate_at_once() -> None:
    debate = Debate(get_composition("moderator-analyst-evaluator")).cast_ballots(["halt"])
    assert debate.outcome == DebateOutcome("no_match", 1, "halted")


def test_a_lost_answer_leaves_the_verdict_open_unless_it_could_not_change_it() -> None:
    assert Debate(_DEFAULT).cast_ballots(["match", "lost"]).outcome == DebateOutcome(None, 1, "lost")
    pair = get_composition("two-analysts").model_copy(update={"rounds": 1})
    assert Debate(pair).cast_ballots(["no_match", "lost"]).outcome == DebateOutcome("no_match", 1, "disagreed")
    assert Debate(get_composition("moderator-analyst-critic")).cast_ballots(["lost"]).outcome == DebateOutcome(
        None, 1, "lost"
    )


def test_invalid_ballots_are_rejected() -> None:
    with pytest.raises(ValueError, match="2 seats speak next, but 1 ballots"):
        Debate(_DEFAULT).cast_ballots(["match"])
    with pytest.raises(ValueError, match="analyst 1 cannot cast 'halt'"):
        Debate(_DEFAULT).cast_ballots(["halt", "match"])
