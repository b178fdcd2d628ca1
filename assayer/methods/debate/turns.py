"""Convert a seat's answer to a ballot and a turn in the transcript, checking its quotes against both texts."""

from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

from assayer.citing.quotes import find_quote, occurs_in
from assayer.methods.debate.composition import Seat
from assayer.methods.debate.rounds import Ballot
from assayer.methods.debate.schemas import (
    AnalystAnswer,
    ComparedElement,
    CriticAnswer,
    EvaluatorAnswer,
    ModeratorAnswer,
    Objection,
    WeighedEvidence,
)
from assayer.models import Absent
from assayer.models.reward import RewardItem
from assayer_client.rewards import DebateQuote, DebateTurn

NO_VOTE = "A moderator has no vote."

_MET = {"yes": "yes", "in_part": "in part", "no": "no", "contradicted": "contradicted"}

_Quoting: TypeAlias = ComparedElement | Objection | WeighedEvidence


class Spoken(NamedTuple):
    ballot: Ballot
    turn: DebateTurn


def convert_answer_to_turn(item: RewardItem, number: int, seat: Seat, answer: Any) -> Spoken:
    """Convert an answer to a turn. `answer` has the type that belongs to the seat's role; `item` holds the texts as
    shown to the seat."""
    if isinstance(answer, ModeratorAnswer):
        guidance = [f"What the idea proposes: {answer.proposes}", answer.guidance]
        turn = _build_turn(number, seat, Absent(reason=NO_VOTE), guidance, ())
        return Spoken(answer.decision, turn)
    lines, pairs = _split_answer(answer)
    return Spoken(answer.vote, _build_turn(number, seat, answer.vote, lines, _check_quotes(item, pairs)))


def _split_answer(answer: Any) -> tuple[list[str], list[_Quoting]]:
    match answer:
        case AnalystAnswer():
            elements = [
                f"Element {number}: {element.element} Met by the idea: {_MET[element.met]}. {element.comparison}"
                for number, element in enumerate(answer.elements, 1)
            ]
            return [*elements, answer.argument], list(answer.elements)
        case CriticAnswer():
            objections = [
                f"{'Against the core' if objection.touches == 'core' else 'Beside the core'}: {objection.objection}"
                for objection in answer.objections
            ]
            return [*objections, answer.argument], list(answer.objections)
        case EvaluatorAnswer():
            comparisons = [item.comparison for item in answer.evidence]
            return [*comparisons, answer.summary, answer.argument], list(answer.evidence)
    raise TypeError(f"No voting role returns answers of type {type(answer).__name__}.")


def _build_turn(
    number: int,
    seat: Seat,
    vote: Literal["match", "no_match"] | Absent,
    lines: Iterable[str],
    quotes: Iterable[DebateQuote],
) -> DebateTurn:
    return DebateTurn(
        round=number,
        role=seat.role,
        seat=seat.number,
        vote=vote,
        argument="\n".join(line.strip() for line in lines),
        quotes=tuple(quotes),
    )


def build_lost_turn(number: int, seat: Seat, reason: str) -> Spoken:
    return Spoken("lost", _build_turn(number, seat, Absent(reason=reason), (), ()))


def _check_quotes(item: RewardItem, pairs: Iterable[_Quoting]) -> Iterator[DebateQuote]:
    for pair in pairs:
        for source, words in (("abstract", pair.abstract_words), ("idea", pair.idea_words)):
            if words.strip():
                yield check_debate_quote(item, "idea" if source == "idea" else "abstract", words)


def check_debate_quote(item: RewardItem, source: Literal["idea", "abstract"], words: str) -> DebateQuote:
    """Return the quote in the source's own wording, or marked as not found."""
    text = item.idea if source == "idea" else item.abstract
    spans = next(find_quote(words, text), None) if occurs_in(words, text) else None
    if spans is None:
        return DebateQuote(source=source, text=words.strip(), found=False)
    return DebateQuote(source=source, text=" … ".join(text[start:end] for start, end in spans), found=True)
