"""Ranking as one HTML file and as Markdown, under the same content security policy as the reports."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from assayer.models import Absent, Blinding, IdeaId, suspicious_kinds
from assayer.reports.head_to_head import HeadToHeadTable, build_head_to_head_tables
from assayer.reports.html import render_page
from assayer.reports.markdown import render_markdown
from assayer.reports.wording import BANDS, describe_erased_ranks, format_count, format_masked_counts
from assayer_client.comparisons import Comparison
from assayer_client.rankings import Band, Baseline, GroupAnalysis, RankedIdea, Ranking

_MIN_BIAS_TO_WARN = 0.5
"""Position bias, in logits, that triggers a warning to readers. At this bias, the idea shown first wins 62 % of evenly
matched pairs."""
_MIN_CYCLE_SHARE_TO_WARN = 0.2
_MIN_TRIANGLES = 20
_MIN_PAIRS_IN_BOTH_ORDERS = 10
_MIN_COMPARISONS_PER_IDEA = 8
"""Minimum number of comparisons per idea; with fewer, the order mostly reflects the starting strengths."""
_MIN_FAILED_SHARE_TO_WARN = 0.05
_MAX_NAMED_IDEAS = 6
"""Maximum number of ideas named in one caution."""


class Caution(NamedTuple):
    title: str
    text: str
    is_serious: bool = False


class BandGroup(NamedTuple):
    """Ideas in one band; without a cut, a single group without a band holds all ideas."""

    band: Band | None
    title: str
    ideas: tuple[RankedIdea, ...]


@dataclass(frozen=True)
class RankingPage:
    ranking: Ranking
    comparisons: Sequence[Comparison]

    @cached_property
    def groups(self) -> tuple[BandGroup, ...]:
        """Ideas grouped by band, in rank order within each band. Empty bands are included."""
        ideas = self.ranking.ideas
        if self.ranking.shortlist_size is None:
            return (BandGroup(None, "Ranked ideas", ideas),)
        return tuple(
            BandGroup(band, title, tuple(idea for idea in ideas if idea.band == band)) for band, title in BANDS.items()
        )

    @property
    def group_analysis(self) -> GroupAnalysis | None:
        """Group analysis; None if none was requested or the analysis failed."""
        return self.ranking.analysis if isinstance(self.ranking.analysis, GroupAnalysis) else None

    @cached_property
    def by_id(self) -> dict[IdeaId, RankedIdea]:
        return {idea.id: idea for idea in self.ranking.ideas}

    @cached_property
    def analyses(self) -> tuple[HeadToHeadTable, ...]:
        return build_head_to_head_tables(self.ranking, self.comparisons)

    @property
    def baselines(self) -> tuple[Baseline, ...]:
        return () if isinstance(self.ranking.baselines, Absent) else self.ranking.baselines

    @property
    def per_idea(self) -> float:
        """Number of verdicts per idea; every comparison counts as a verdict on both of its ideas."""
        return 2 * self.ranking.judge.comparisons / self.ranking.size

    def describe_suspicion(self, idea: RankedIdea) -> str:
        """Return what a person should review in the idea's text before relying on its rank; usually empty."""
        kinds = ", ".join(kind.replace("_", " ") for kind in suspicious_kinds(idea.flags))
        return f"suspicious: {kinds}" if kinds else ""

    def format_position(self, rank: float) -> str:
        """Return a rank's position on the drawn scale as a percentage. Each rank lies in the middle of its share of the
        scale."""
        return f"{100 * (rank - 0.5) / self.ranking.size:.2f}%"

    @cached_property
    def cut_place(self) -> str | None:
        """Position of the cut on the drawn scale as a percentage: halfway between the last rank inside the cut and the
        first rank outside it; None without a cut."""
        return None if self.ranking.shortlist_size is None else self.format_position(self.ranking.shortlist_size + 0.5)

    @property
    def start(self) -> str:
        """Description of the starting strengths. Point scores come from earlier evaluations, and the ranking does not
        know whether those were blind."""
        if not self.ranking.has_starting_scores:
            return "all equal"
        blindness_note = "; whether these were given blind is not recorded here" if self.ranking.blind else ""
        return f"point scores, then adjusted by the comparisons{blindness_note}"

    @cached_property
    def cautions(self) -> tuple[Caution, ...]:
        """Cautions about the judge and the ideas that a reader must see before relying on the order."""
        return (*self._list_judge_cautions(), *self._list_idea_cautions())

    @cached_property
    def blindness(self) -> str | None:
        """Header text that states whether the ideas were judged blind, and how much was masked in all of them; None if
        the ranking does not record it."""
        if self.ranking.blind is None:
            return None
        if not self.ranking.blind:
            return "not blind: names were shown to the judge"
        records = [idea.blinding for idea in self.ranking.ideas if idea.blinding]
        if not records:
            return "judged blind"
        masked_counts_by_kind = tuple(item for record in records for item in record.masked)
        remain = any(record.names_may_remain for record in records)
        combined = Blinding(
            rules=max(item.rules for item in records), masked=masked_counts_by_kind, names_may_remain=remain
        )
        return f"judged blind: {format_masked_counts(combined)}"

    @property
    def evidence(self) -> str | None:
        """Header text that states what the judge saw in addition to the ideas; None if it saw nothing else."""
        found_count, ideas = self.ranking.ideas_with_evidence, self.ranking.size
        if found_count is None:
            return None
        extent = "all ideas" if found_count == ideas else f"{found_count:,} of {ideas:,} ideas"
        return f"with the reports' findings on {extent}"

    def _list_judge_cautions(self) -> Iterator[Caution]:
        ranking, judge = self.ranking, self.ranking.judge
        if not judge.comparisons:
            start = "of the point scores" if ranking.has_starting_scores else "of their ids, which is arbitrary"
            yield Caution("No comparison", f"The judge gave no usable answer: the order is that {start}.", True)
        if ranking.stopped_early is not None:
            text = "The ranking is based on the comparisons answered before that."
            yield Caution("Budget used up", f"{ranking.stopped_early.reason} {text}")
        if judge.triangles >= _MIN_TRIANGLES and judge.cycles / judge.triangles >= _MIN_CYCLE_SHARE_TO_WARN:
            share = f"{100 * judge.cycles / judge.triangles:.0f} %"
            text = f"{share} of the triples are circular; random answers would give 25 %. Do not rely on this order."
            yield Caution("Barely better than random", text, True)
        if judge.bias_interval.low >= _MIN_BIAS_TO_WARN or judge.bias_interval.high <= -_MIN_BIAS_TO_WARN:
            side = "first" if judge.bias_interval.low > 0 else "second"
            yield Caution(
                "A judge with a position bias",
                f"This judge favours the idea shown {side}. The order within each pair is random and the preference is "
                "corrected for, so no idea benefits, but each verdict carries less information.",
            )
        if (
            judge.pairs_in_both_orders >= _MIN_PAIRS_IN_BOTH_ORDERS
            and judge.contradictions > judge.pairs_in_both_orders / 2
        ):
            yield Caution(
                "An inconsistent judge",
                f"When asked again in the opposite order, the judge changed the verdict on {judge.contradictions} of "
                f"{judge.pairs_in_both_orders} pairs. Pairs asked twice are close, but even random answers would "
                "change only half of the verdicts.",
            )
        asked_count = judge.comparisons - judge.submitted_comparisons + judge.failed
        if asked_count and judge.failed / asked_count >= _MIN_FAILED_SHARE_TO_WARN:
            yield Caution(
                "Answers missing", f"{judge.failed} of {asked_count} comparisons ended without a usable answer."
            )
        if judge.comparisons_of_unknown_judge:
            yield Caution(
                "Comparisons by an unknown judge",
                f"{judge.comparisons_of_unknown_judge:,} of the {judge.comparisons:,} comparisons were "
                "supplied by the caller and do not state which model judged them or which question it was asked.",
            )

    def _list_idea_cautions(self) -> Iterator[Caution]:
        ranking = self.ranking
        if notice := describe_erased_ranks(ranking.erased, "idea"):
            yield Caution("Erased since", notice)
        unjudged_ideas = [(idea, idea.unjudged.reason) for idea in ranking.ideas if idea.unjudged]
        if unjudged_ideas and ranking.judge.comparisons:
            reason = unjudged_ideas[0][1] if len(unjudged_ideas) == 1 else "All comparisons of them failed."
            yield Caution(
                "Ideas without a verdict",
                f"{format_count(len(unjudged_ideas), 'idea')} could not be compared: "
                f"{_name_sources([idea for idea, _ in unjudged_ideas])}. {reason} They keep their starting positions.",
            )
        if suspicious_ideas := [idea for idea in ranking.ideas if suspicious_kinds(idea.flags)]:
            yield Caution(
                "Suspicious text",
                f"{format_count(len(suspicious_ideas), 'idea')} contained hidden characters or instructions to "
                f"reviewers: {_name_sources(suspicious_ideas)}. They were treated as data and not followed. Whether "
                "they influenced the judge is unknown.",
            )
        if alike := [idea for idea in ranking.ideas if idea.same_text_as]:
            yield Caution(
                "Identical texts",
                f"For {format_count(len(alike), 'idea')} the judge would have been shown the same text as for another"
                f"{', because names are masked' if ranking.blind else ''}: {_name_sources(alike)}. They were not "
                "compared with each other. They share one estimated strength, so their order is arbitrary.",
            )
        if unread := ranking.truncated_ideas:
            yield Caution(
                "Long ideas truncated",
                f"The judge is shown {unread.limit:,} characters of an idea. {unread.ideas:,} of {ranking.size:,} "
                f"ideas are longer: {unread.characters:,} characters at their ends were left out of every comparison.",
            )
        if ranking.judge.comparisons and self.per_idea < _MIN_COMPARISONS_PER_IDEA:
            text = f"Each idea had {self.per_idea:.1f} verdicts on average. Rely on the intervals, not on the ranks."
            yield Caution("Few comparisons", text)


def _name_sources(ideas: Sequence[RankedIdea]) -> str:
    """Return the sources of the first few ideas, and how many more there are."""
    names = ", ".join(idea.source for idea in ideas[:_MAX_NAMED_IDEAS])
    return f"{names} and {len(ideas) - _MAX_NAMED_IDEAS:,} more" if len(ideas) > _MAX_NAMED_IDEAS else names


def render_ranking_html(ranking: Ranking, comparisons: Sequence[Comparison]) -> str:
    """Return the ranking as one HTML page. `comparisons` are the comparisons that the ranking is based on; for small
    groups, the page shows their reasons."""
    page = RankingPage(ranking, comparisons)
    return render_page("ranking.html", "report.css", "ranking.css", page=page, ranking=ranking)


def render_ranking_markdown(ranking: Ranking, comparisons: Sequence[Comparison]) -> str:
    return render_markdown("ranking.md", page=RankingPage(ranking, comparisons), ranking=ranking)
