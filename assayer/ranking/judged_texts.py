"""What a judge is shown of ideas: masked where they are judged blind, cut where they are long. Ideas of which the judge
is shown the same text are not compared: they have one standing.
"""

from collections.abc import Sequence
from typing import NamedTuple

from assayer.blinding.blind import RULES, blinded
from assayer.errors import InputError
from assayer.models import Blinding, Idea, IdeaId
from assayer.models.ranking import Unread
from assayer.ranking.options import RankingOptions
from assayer.text.cutting import first_words

__all__ = ["JudgedTexts", "blinding_rules", "judged_texts", "masked_idea", "read_the_same", "shown_text", "unread_text"]


def masked_idea(idea: Idea) -> Idea:
    """By today's rules. What was masked before, as in an idea out of a report, stays masked and in the record."""
    if idea.blinding is None:
        return blinded(idea)
    if idea.blinding.rules == RULES:
        return idea
    again = blinded(idea)
    found = again.blinding.masked if again.blinding else ()
    record = Blinding(rules=RULES, masked=(*idea.blinding.masked, *found))
    return again.model_copy(update={"blinding": record, "unblinded": idea.unblinded})


def blinding_rules(ideas: Sequence[Idea]) -> int | None:
    """The version of the rules by which all of them are masked; None where none is. Raises InputError where they
    differ: names beside placeholders would be compared."""
    versions = {idea.blinding.rules if idea.blinding else None for idea in ideas}
    if len(versions) > 1:
        raise InputError(
            "Some of the ideas are masked and others are not, or not by the same rules.", "Rank all of them blind."
        )
    return versions.pop() if versions else None


def shown_text(idea: Idea, options: RankingOptions) -> str:
    """A long text is cut at a whole word and marked as cut."""
    shown = first_words(idea.text, options.idea_chars)
    return shown if shown == idea.text else f"{shown} […]"


def unread_text(ideas: Sequence[Idea], options: RankingOptions) -> Unread | None:
    beyond = [len(idea.text) - options.idea_chars for idea in ideas if len(idea.text) > options.idea_chars]
    return Unread(ideas=len(beyond), characters=sum(beyond), limit=options.idea_chars) if beyond else None


class JudgedTexts(NamedTuple):
    distinct: tuple[Idea, ...]
    """For each text that the judge is shown, the first idea that has it."""
    rows: dict[IdeaId, int]
    """Of every idea, the place of its text in `distinct`."""

    def alike(self) -> dict[IdeaId, tuple[IdeaId, ...]]:
        """For every idea, the others with its text."""
        groups = dict[int, list[IdeaId]]()
        for idea, row in self.rows.items():
            groups.setdefault(row, []).append(idea)
        return {idea: tuple(one for one in groups[row] if one != idea) for idea, row in self.rows.items()}


def judged_texts(ideas: Sequence[Idea], options: RankingOptions) -> JudgedTexts:
    """Texts that differ in blank space alone are the same."""
    places: dict[str, int] = {}
    distinct: list[Idea] = []
    rows: dict[IdeaId, int] = {}
    for idea in ideas:
        text = _words(shown_text(idea, options))
        if text not in places:
            places[text] = len(distinct)
            distinct.append(idea)
        rows[idea.id] = places[text]
    return JudgedTexts(tuple(distinct), rows)


def read_the_same(first: Idea, second: Idea, options: RankingOptions) -> bool:
    return _words(shown_text(first, options)) == _words(shown_text(second, options))


def _words(text: str) -> str:
    return " ".join(text.split())
