"""Reward by debate: the seats of a composition argue about an item until the verdict is settled."""

from dataclasses import replace

from assayer.errors import AssayerError, BudgetExhausted, ComponentUnavailable, LlmError
from assayer.llm import Llm, ask
from assayer.methods.debate.composition import Composition, Seat
from assayer.methods.debate.guards import reward_without_judging
from assayer.methods.debate.rounds import Debate, DebateOutcome
from assayer.methods.debate.schemas import DebateQuestion
from assayer.methods.debate.tasks import build_seat_task
from assayer.methods.debate.turns import Spoken, build_lost_turn, convert_answer_to_turn
from assayer.models import Absent
from assayer.models.reward import RewardItem
from assayer.run.accounting import sum_journal_costs
from assayer.run.concurrency import gather_all
from assayer.run.journal import Journal
from assayer.run.run import Run
from assayer.text.sanitise import clean_text
from assayer_client.rewards import DebateTurn, Reward


async def judge_by_debate(item: RewardItem, composition: Composition, llm: Llm, run: Run) -> Reward:
    """Judge an item by debate. If the judge fails (no language model, unreachable endpoint, exhausted budget, failed
    request), nothing is raised: the reward's value is Absent, with the reason. LLM requests and tokens are counted for
    this item; a cache hit counts as a request and costs nothing."""
    reward = reward_without_judging(item, composition.name)
    if reward is not None:
        return reward
    if not llm.models:
        reason = "A debate needs a language model, but none is configured."
        return Reward(value=Absent(reason=reason), reason=reason, judge=composition.name)
    own_run = replace(run, journal=Journal())
    try:
        return await _hold_debate(item, composition, llm, own_run)
    finally:
        run.journal.add_calls_from(own_run.journal)


async def _hold_debate(item: RewardItem, composition: Composition, llm: Llm, run: Run) -> Reward:
    shown_item = RewardItem(
        question=clean_text(item.question), idea=clean_text(item.idea), abstract=clean_text(item.abstract)
    )
    debate = Debate(composition)
    transcript: tuple[DebateTurn, ...] = ()
    while (outcome := debate.outcome) is None:
        question = _build_question(shown_item, debate, transcript)
        spoken_turns = await gather_all(
            _ask_seat(seat, question, shown_item, composition, llm, run) for seat in debate.speaking
        )
        debate = debate.cast_ballots([entry.ballot for entry in spoken_turns])
        transcript += tuple(entry.turn for entry in spoken_turns)
    return _build_reward(outcome, composition, transcript, run.journal)


def _build_question(item: RewardItem, debate: Debate, transcript: tuple[DebateTurn, ...]) -> DebateQuestion:
    return DebateQuestion(
        question=item.question,
        abstract=item.abstract,
        idea=item.idea,
        round=debate.round,
        rounds=debate.composition.rounds,
        seat=1,
        history=transcript,
    )


async def _ask_seat(
    seat: Seat, question: DebateQuestion, item: RewardItem, composition: Composition, llm: Llm, run: Run
) -> Spoken:
    seat_question = question.model_copy(update={"seat": seat.number})
    try:
        answer = await ask(llm, build_seat_task(composition, seat), seat_question, run)
    except (LlmError, BudgetExhausted, ComponentUnavailable) as error:
        return build_lost_turn(question.round, seat, _describe_failure(error))
    return convert_answer_to_turn(item, question.round, seat, answer)


def _describe_failure(error: AssayerError) -> str:
    reason = error.reason
    return f"{reason[0].upper()}{reason[1:]}."


def _build_reward(
    outcome: DebateOutcome, composition: Composition, transcript: tuple[DebateTurn, ...], journal: Journal
) -> Reward:
    reason = _explain_outcome(outcome, transcript)
    paid_calls = [call for call in journal.calls if not call.cached]
    return Reward(
        value=Absent(reason=reason) if outcome.vote is None else 1 if outcome.vote == "match" else 0,
        reason=reason,
        judge=composition.name,
        transcript=transcript,
        decided_in_round=None if outcome.vote is None else outcome.round,
        llm_requests=len(journal.calls),
        prompt_tokens=sum(call.prompt_tokens for call in paid_calls),
        completion_tokens=sum(call.completion_tokens for call in paid_calls),
        cost_usd=sum_journal_costs(journal),
        models=tuple(sorted({call.model for call in journal.calls})),
        prompts=journal.list_prompts(),
    )


def _explain_outcome(outcome: DebateOutcome, transcript: tuple[DebateTurn, ...]) -> str:
    number = outcome.round
    match outcome.ground:
        case "halted":
            return f"The moderator found no idea to compare. {_find_conclusion(transcript)}"
        case "agreed":
            verdict = "it matches" if outcome.vote == "match" else "it does not match"
            voters = "All seats agreed" if len(_list_votes(number, transcript)) > 1 else "The only voting seat found"
            return f"{voters} in round {number} that {verdict}. {_find_conclusion(transcript)}"
        case "evaluators":
            return f"The evaluator settled a split in round {number}: it matches. {_find_conclusion(transcript)}"
        case "disagreed":
            votes = _list_votes(number, transcript)
            return (
                f"No agreement by the last round, {number} ({votes.count('match')} of {len(votes)} votes for a match): "
                f"it does not match. {_find_conclusion(transcript)}"
            )
        case "lost":
            seat, reason = next((turn, turn.vote.reason) for turn in transcript[::-1] if isinstance(turn.vote, Absent))
            return f"No answer from {seat.role} {seat.seat} in round {number}. {reason}"


def _list_votes(number: int, transcript: tuple[DebateTurn, ...]) -> list[str]:
    return [turn.vote for turn in transcript if turn.round == number and not isinstance(turn.vote, Absent)]


def _find_conclusion(transcript: tuple[DebateTurn, ...]) -> str:
    """Return the last speaker's conclusion."""
    return next((turn.argument for turn in transcript[::-1] if turn.argument), "").rpartition("\n")[2]
