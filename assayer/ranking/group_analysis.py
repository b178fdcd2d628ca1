"""Analyse a small ranked group: what distinguishes the ideas in each dimension, what decided their order, and which
pairs remain undecided.

It is written from the judge's reasons after the order is final, so it cannot change an idea's rank. The prompt, the
answer and the report refer to ideas by rank: `#1` is the best."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

from pydantic import Field

from assayer.citing.answer_texts import TextRole
from assayer.citing.labels import check_each_once
from assayer.llm import Llm, Task, ask
from assayer.models import Absent, Frozen, Idea, IdeaId
from assayer.prompts import Prompts
from assayer.ranking.judged_texts import format_shown_text
from assayer.ranking.options import RankingOptions
from assayer.run.concurrency import Failed, catch_failure
from assayer.run.run import Run
from assayer.text.sanitise import sanitise
from assayer_client.comparisons import Comparison
from assayer_client.rankings import CloseCall, Dimension, DimensionAnalysis, GroupAnalysis, IdeaAnalysis, RankedIdea

_MAX_PAIRS_SHOWN = 60
"""Maximum number of pairs shown with the judge's reasons, closest in rank first."""
_IDEA_CHARS = 2_500
"""Maximum number of characters shown per idea, in addition to the judge's reasons."""
_IDEA_NAME = re.compile(r"#\d+")
_MAX_CLOSE_CALLS = 5

_Prose = Annotated[str, Field(min_length=1, max_length=1_500), TextRole.RESTATES]


class ShownIdea(Frozen):
    name: str
    """The idea's name in the prompt, which is its rank: `#3`."""
    title: str
    text: str
    lowest: int
    """Worst rank within the idea's rank interval."""
    highest: int


class ShownReason(Frozen):
    """The judge's verdict on a pair in one dimension."""

    dimension: str
    first: str
    """Name of the idea shown as A."""
    second: str
    better: str
    """Name of the winner, or `tie`."""
    text: str


class ShownPair(Frozen):
    open: str
    """Label for the question about this pair if the rank intervals overlap, otherwise empty."""
    higher: str
    lower: str
    reasons: tuple[ShownReason, ...]


class GroupQuestion(Frozen):
    dimensions: tuple[Dimension, ...]
    order_by: str
    ideas: tuple[ShownIdea, ...]
    pairs: tuple[ShownPair, ...]


class DimensionEntry(Frozen):
    label: str = Field(pattern=r"^D[1-9]\d?$", description="Label of the respect, as D1.")
    text: _Prose = Field(description="40 to 90 words.")


class IdeaEntry(Frozen):
    label: str = Field(pattern=r"^I[1-9]\d?$", description="Label of the idea, as I1.")
    standing: _Prose = Field(description="20 to 50 words: what decided its place.")
    to_rise: _Prose = Field(description="15 to 40 words: the change of its plan that answers most.")


class CloseEntry(Frozen):
    label: str = Field(pattern=r"^O[1-9]\d?$", description="Label of the open pair, as O1.")
    decides: _Prose = Field(description="15 to 40 words: what somebody would have to find out to decide between them.")


class GroupAnswer(Frozen):
    by_dimension: list[DimensionEntry] = Field(description="One for each respect, in order.")
    ideas: list[IdeaEntry] = Field(description="One for each idea, in order.")
    close_calls: list[CloseEntry] = Field(max_length=_MAX_CLOSE_CALLS, description="Empty if no order is open.")
    overview: _Prose = Field(description="80 to 150 words.")


def _check_group(question: GroupQuestion, answer: GroupAnswer) -> list[str]:
    respects = [f"D{number}" for number, _ in enumerate(question.dimensions, start=1)]
    complaints = check_each_once(respects, (item.label for item in answer.by_dimension), "respect")
    complaints += check_each_once(_list_idea_labels(question), (idea.label for idea in answer.ideas), "idea")
    open_labels = {pair.open for pair in question.pairs if pair.open}
    asked_labels = [close_call.label for close_call in answer.close_calls]
    complaints += [f"{label} is not a pair whose order is open." for label in sorted(set(asked_labels) - open_labels)]
    complaints += [f"{label} is there more than once." for label, n in Counter(asked_labels).items() if n > 1]
    names = {idea.name for idea in question.ideas}
    unknown = sorted({name for text in _list_texts(answer) for name in _IDEA_NAME.findall(text)} - names)
    return complaints + [f"There is no idea {name}." for name in unknown]


def _list_idea_labels(question: GroupQuestion) -> list[str]:
    return [f"I{number}" for number, _ in enumerate(question.ideas, start=1)]


def _list_texts(answer: GroupAnswer) -> Iterable[str]:
    yield answer.overview
    yield from (item.text for item in answer.by_dimension)
    for idea in answer.ideas:
        yield from (idea.standing, idea.to_rise)
    yield from (close_call.decides for close_call in answer.close_calls)


ANALYSIS = Task[GroupQuestion, GroupAnswer](
    name="ranking.analysis",
    prompts=Prompts("assayer.ranking"),
    prompt="analysis.v1.md",
    output=GroupAnswer,
    tier="strong",
    max_tokens=4_000,
    check=_check_group,
)


async def analyse_group(
    ideas: Sequence[Idea],
    ranked: Sequence[RankedIdea],
    comparisons: Sequence[Comparison],
    llm: Llm,
    run: Run,
    options: RankingOptions,
) -> GroupAnalysis | Absent:
    """Ask the model for a group analysis. Returns Absent, with the reason, if it gives no usable answer: the ranking is
    valid without an analysis.

    Raises errors that would affect every request, such as LlmRejected and LlmUnavailable. A resumed ranking then
    continues from the stored answers, whereas an Absent analysis would be permanent."""
    names = {item.id: f"#{item.rank}" for item in ranked}
    question = GroupQuestion(
        dimensions=options.dimensions,
        order_by=options.order_by,
        ideas=tuple(_describe_ideas(ideas, ranked, options)),
        pairs=tuple(_choose_pairs(ranked, comparisons, names)),
    )
    answer = await catch_failure(ask(llm, ANALYSIS, question, run))
    if isinstance(answer, Failed):
        return Absent(reason=answer.error.message)
    respects = {entry.label: entry.text for entry in answer.by_dimension}
    entries_by_label = {entry.label: entry for entry in answer.ideas}
    pairs = {pair.open: pair for pair in question.pairs if pair.open}
    by_name = {name: idea for idea, name in names.items()}
    return GroupAnalysis(
        overview=_sanitise_text(answer.overview),
        dimensions=tuple(
            DimensionAnalysis(dimension=dimension.name, text=_sanitise_text(respects[f"D{number}"]))
            for number, dimension in enumerate(options.dimensions, start=1)
        ),
        ideas=tuple(
            IdeaAnalysis(
                id=item.id,
                rank_explanation=_sanitise_text(entries_by_label[label].standing),
                changes_needed=_sanitise_text(entries_by_label[label].to_rise),
            )
            for label, item in zip(_list_idea_labels(question), ranked, strict=True)
        ),
        close_calls=tuple(
            CloseCall(
                higher=by_name[pairs[close_call.label].higher],
                lower=by_name[pairs[close_call.label].lower],
                deciding_fact=_sanitise_text(close_call.decides),
            )
            for close_call in answer.close_calls
        ),
    )


def _describe_ideas(
    ideas: Sequence[Idea], ranked: Sequence[RankedIdea], options: RankingOptions
) -> Iterable[ShownIdea]:
    texts = {idea.id: format_shown_text(idea, options.model_copy(update={"idea_chars": _IDEA_CHARS})) for idea in ideas}
    for item in ranked:
        yield ShownIdea(
            name=f"#{item.rank}",
            title=" ".join(sanitise(item.title)[0].split()),
            text=texts[item.id],
            lowest=round(item.ranks.high),
            highest=round(item.ranks.low),
        )


def _choose_pairs(
    ranked: Sequence[RankedIdea], comparisons: Sequence[Comparison], names: Mapping[IdeaId, str]
) -> Iterable[ShownPair]:
    """Yield the pairs that have reasons, closest in rank first: reasons are most informative where the order is least
    certain."""
    ranked_by_id = {item.id: item for item in ranked}
    by_pair: dict[tuple[IdeaId, IdeaId], list[Comparison]] = {}
    for comparison in comparisons:
        higher, lower = sorted((comparison.first, comparison.second), key=lambda idea: ranked_by_id[idea].rank)
        by_pair.setdefault((higher, lower), []).append(comparison)
    closest = sorted(
        by_pair, key=lambda pair: (ranked_by_id[pair[1]].rank - ranked_by_id[pair[0]].rank, ranked_by_id[pair[0]].rank)
    )
    open_count = 0
    for higher, lower in closest[:_MAX_PAIRS_SHOWN]:
        overlap = ranked_by_id[higher].ranks.high >= ranked_by_id[lower].ranks.low
        open_count += overlap
        open_label = f"O{open_count}" if overlap else ""
        yield ShownPair(
            open=open_label,
            higher=names[higher],
            lower=names[lower],
            reasons=tuple(
                reason for comparison in by_pair[higher, lower] for reason in _list_reasons(comparison, names)
            ),
        )


def _list_reasons(comparison: Comparison, names: Mapping[IdeaId, str]) -> Iterable[ShownReason]:
    first, second = names[comparison.first], names[comparison.second]
    sides = {"first": first, "second": second, "tie": "tie"}
    for verdict in comparison.verdicts:
        better = sides[verdict.winner]
        yield ShownReason(dimension=verdict.dimension, first=first, second=second, better=better, text=verdict.reason)


def _sanitise_text(text: str) -> str:
    return sanitise(text)[0].strip()
