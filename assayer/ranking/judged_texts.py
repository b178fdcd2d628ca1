"""Prepare ideas' texts for the judge: masked if ideas are judged blind, cut if they are long.

Ideas that would be shown to the judge with the same text are not compared with each other; they share one standing."""

from collections.abc import Sequence
from typing import NamedTuple

from assayer.blinding.blind import RULES, blind_idea
from assayer.errors import InputError
from assayer.models import Blinding, Idea, IdeaId
from assayer.ranking.options import RankingOptions
from assayer.text.cutting import keep_beginning
from assayer_client.rankings import TruncatedIdeas


def mask_idea(idea: Idea) -> Idea:
    """Mask an idea by the current rules. Earlier masking (of an idea taken from a report, for example) is kept and
    stays on record."""
    if idea.blinding is None:
        return blind_idea(idea)
    if idea.blinding.rules == RULES:
        return idea
    masked_idea = blind_idea(idea)
    masked_spans = masked_idea.blinding.masked if masked_idea.blinding else ()
    names_may_remain = (
        masked_idea.blinding.names_may_remain
        if masked_idea.blinding and masked_spans
        else idea.blinding.names_may_remain
    )
    record = Blinding(rules=RULES, masked=(*idea.blinding.masked, *masked_spans), names_may_remain=names_may_remain)
    return masked_idea.model_copy(update={"blinding": record, "unblinded": idea.unblinded})


def require_same_blinding_rules(ideas: Sequence[Idea]) -> int | None:
    """Return the version of the masking rules applied to all ideas, or None if no idea is masked. Raises InputError if
    the versions differ, because names would then be compared with placeholders."""
    versions = {idea.blinding.rules if idea.blinding else None for idea in ideas}
    if len(versions) > 1:
        raise InputError(
            "Some ideas are masked and others are not, or they were masked by different rules.",
            "Rank all of them blind.",
        )
    return versions.pop() if versions else None


def format_shown_text(idea: Idea, options: RankingOptions) -> str:
    """Return the idea's text as shown to the judge; a long text is cut between words and ends in `[…]`."""
    shown_text = keep_beginning(idea.text, options.idea_chars)
    return shown_text if shown_text == idea.text else f"{shown_text} […]"


def measure_unread_text(ideas: Sequence[Idea], options: RankingOptions) -> TruncatedIdeas | None:
    excess_chars = [len(idea.text) - options.idea_chars for idea in ideas if len(idea.text) > options.idea_chars]
    return (
        TruncatedIdeas(ideas=len(excess_chars), characters=sum(excess_chars), limit=options.idea_chars)
        if excess_chars
        else None
    )


class JudgedTexts(NamedTuple):
    distinct: tuple[Idea, ...]
    """The first idea for each distinct text."""
    rows: dict[IdeaId, int]
    """Each idea's position in `distinct`."""

    def find_same_texts(self) -> dict[IdeaId, tuple[IdeaId, ...]]:
        """Return, for each idea, the other ideas with the same text."""
        groups = dict[int, list[IdeaId]]()
        for idea, row in self.rows.items():
            groups.setdefault(row, []).append(idea)
        return {idea: tuple(group for group in groups[row] if group != idea) for idea, row in self.rows.items()}


def group_by_text(ideas: Sequence[Idea], options: RankingOptions) -> JudgedTexts:
    """Group the ideas by text; texts that differ only in white space count as the same."""
    rows_by_text: dict[str, int] = {}
    distinct: list[Idea] = []
    rows: dict[IdeaId, int] = {}
    for idea in ideas:
        text = _normalise_spaces(format_shown_text(idea, options))
        if text not in rows_by_text:
            rows_by_text[text] = len(distinct)
            distinct.append(idea)
        rows[idea.id] = rows_by_text[text]
    return JudgedTexts(tuple(distinct), rows)


def have_same_text(first: Idea, second: Idea, options: RankingOptions) -> bool:
    return _normalise_spaces(format_shown_text(first, options)) == _normalise_spaces(format_shown_text(second, options))


def _normalise_spaces(text: str) -> str:
    return " ".join(text.split())
