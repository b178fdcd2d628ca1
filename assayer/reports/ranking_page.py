"""Ranking as one HTML file and as Markdown, under the same policy as the reports."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from assayer.models import Absent, Blinding, IdeaId, suspicious_kinds
from assayer.reports.head_to_head import HeadToHeadTable, head_to_head_tables
from assayer.reports.html import render_page
from assayer.reports.markdown import render_markdown
from assayer.reports.wording import BANDS, count, erased_ranks, masked_counts
from assayer_client.comparisons import Comparison
from assayer_client.rankings import Band, Baseline, GroupAnalysis, RankedIdea, Ranking

_MUCH_BIAS = 0.5
"""Bias in logits above which readers are warned: an even pair is decided 62 to 38 for the idea shown first."""
_MANY_CYCLES = 0.2
_FEW_TRIANGLES = 20
_FEW_BOTH_WAYS = 10
_FEW_PER_IDEA = 8
"""Minimum comparisons of each idea: with fewer, an order mostly reflects its starting point."""
_MANY_FAILED = 0.05
_NAMED = 6
"""Maximum number of ideas named in one caution."""


class Caution(NamedTuple):
    title: str
    text: str
    grave: bool = False


class BandGroup(NamedTuple):
    """Ideas of one band; without a cut, all ideas in a group without a band."""

    band: Band | None
    title: str
    ideas: tuple[RankedIdea, ...]


@dataclass(frozen=True)
class RankingPage:
    ranking: Ranking
    comparisons: Sequence[Comparison]

    @cached_property
    def groups(self) -> tuple[BandGroup, ...]:
        """Band groups, each in order of ranks; empty bands are included."""
        ideas = self.ranking.ideas
        if self.ranking.cut is None:
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
        return head_to_head_tables(self.ranking, self.comparisons)

    @property
    def baselines(self) -> tuple[Baseline, ...]:
        return () if isinstance(self.ranking.baselines, Absent) else self.ranking.baselines

    @property
    def per_idea(self) -> float:
        """Number of verdicts per idea; every comparison is a verdict on two ideas."""
        return 2 * self.ranking.judge.comparisons / self.ranking.size

    def suspicion(self, idea: RankedIdea) -> str:
        """Return what people should review in the idea's text before they rely on its rank; empty for nearly
        all ideas."""
        found = ", ".join(kind.replace("_", " ") for kind in suspicious_kinds(idea.flags))
        return f"suspicious: {found}" if found else ""

    def place(self, rank: float) -> str:
        """Return the position of a rank on the drawn scale as a percentage; each rank is in the middle of its
        share of the scale."""
        return f"{100 * (rank - 0.5) / self.ranking.size:.2f}%"

    @cached_property
    def cut_place(self) -> str | None:
        """Position of the cut between the last rank that is in and the first that is out, as a percentage; None
        without a cut."""
        return None if self.ranking.cut is None else self.place(self.ranking.cut + 0.5)

    @property
    def start(self) -> str:
        """Description of the starting strengths. Point scores were made elsewhere, so the ranking cannot tell
        whether they were blind."""
        if not self.ranking.seeded:
            return "all equal"
        made = "; whether these were given blind is not recorded here" if self.ranking.blind else ""
        return f"point scores, then adjusted by the comparisons{made}"

    @cached_property
    def cautions(self) -> tuple[Caution, ...]:
        """Cautions about this judge that a reader must know before relying on the order."""
        judge = (
            self._no_comparison(),
            self._budget_spent(),
            self._inconsistent(),
            self._position_bias(),
            self._changes_with_order(),
            self._failed_comparisons(),
            self._of_unknown_judge(),
        )
        ideas = (
            self._erased(),
            self._unjudged(),
            self._suspicious_text(),
            self._same_texts(),
            self._ideas_cut(),
            self._few_comparisons(),
        )
        return tuple(idea for idea in (*judge, *ideas) if idea is not None)

    @cached_property
    def blindness(self) -> str | None:
        """Statement for the header on blinding across all ideas; None if the ranking does not record it."""
        if self.ranking.blind is None:
            return None
        if not self.ranking.blind:
            return "not blind: names were shown to the judge"
        records = [idea.blinding for idea in self.ranking.ideas if idea.blinding]
        masked = tuple(item for record in records for item in record.masked)
        return f"judged blind: {masked_counts(Blinding(rules=max(item.rules for item in records), masked=masked))}"

    @property
    def evidence(self) -> str | None:
        """Statement for the header on what the judge saw besides the ideas; None if there was nothing else."""
        found, ideas = self.ranking.evidence, self.ranking.size
        if found is None:
            return None
        of = "all ideas" if found == ideas else f"{found:,} of {ideas:,} ideas"
        return f"with what reports found on {of}"

    def _no_comparison(self) -> Caution | None:
        if self.ranking.judge.comparisons:
            return None
        start = "of the point scores" if self.ranking.seeded else "of their ids, which is arbitrary"
        return Caution("No comparison", f"The judge gave no usable answer: the order is that {start}.", True)

    def _budget_spent(self) -> Caution | None:
        stopped = self.ranking.stopped
        text = "The ranking is based on the comparisons that had been answered before that."
        return None if stopped is None else Caution("Budget used up", f"{stopped.reason} {text}")

    def _inconsistent(self) -> Caution | None:
        judge = self.ranking.judge
        if judge.triangles < _FEW_TRIANGLES or judge.cycles / judge.triangles < _MANY_CYCLES:
            return None
        share = 100 * judge.cycles / judge.triangles
        text = f"{share:.0f} % of the triples are circular; random answers would make 25 %. Do not rely on this order."
        return Caution("Barely better than random", text, True)

    def _position_bias(self) -> Caution | None:
        interval = self.ranking.judge.bias_interval
        if interval.low < _MUCH_BIAS and interval.high > -_MUCH_BIAS:
            return None
        side = "first" if interval.low > 0 else "second"
        text = (
            f"This judge favours the idea that is shown {side}. Who is shown first is random and the preference is "
            "corrected for, so no idea benefits, but each verdict carries less information."
        )
        return Caution("A judge with a position bias", text)

    def _changes_with_order(self) -> Caution | None:
        judge = self.ranking.judge
        if judge.asked_both_ways < _FEW_BOTH_WAYS or judge.contradictions <= judge.asked_both_ways / 2:
            return None
        text = (
            f"Asked again in the other order, the judge changed the verdict on {judge.contradictions} of "
            f"{judge.asked_both_ways} pairs. Pairs asked twice are close ones, but random answers would change half."
        )
        return Caution("An inconsistent judge", text)

    def _failed_comparisons(self) -> Caution | None:
        judge = self.ranking.judge
        asked = judge.comparisons - judge.handed_in + judge.failed
        if not asked or judge.failed / asked < _MANY_FAILED:
            return None
        return Caution("Answers missing", f"{judge.failed} of {asked} comparisons ended without a usable answer.")

    def _of_unknown_judge(self) -> Caution | None:
        judge = self.ranking.judge
        if not judge.of_unknown_judge:
            return None
        text = (
            f"{judge.of_unknown_judge:,} of the {judge.comparisons:,} comparisons were handed in and do not say which "
            "model judged them, or by which question."
        )
        return Caution("Comparisons of an unknown judge", text)

    def _erased(self) -> Caution | None:
        said = erased_ranks(self.ranking.erased, "idea")
        return Caution("Erased since", said) if said else None

    def _unjudged(self) -> Caution | None:
        """Return the caution about unjudged ideas; the reason is shown at each idea."""
        found = [idea for idea in self.ranking.ideas if idea.unjudged]
        if not found or not self.ranking.judge.comparisons:
            return None
        reason = found[0].unjudged.reason if found[0].unjudged and len(found) == 1 else "Each was asked about in vain."
        text = f"Of {count(len(found), 'idea')} no comparison was answered: {_some(found)}. {reason}"
        return Caution("Ideas without a verdict", f"{text} Where they stand is where they began.")

    def _suspicious_text(self) -> Caution | None:
        found = [idea for idea in self.ranking.ideas if suspicious_kinds(idea.flags)]
        if not found:
            return None
        text = (
            f"{count(len(found), 'idea')} held hidden characters or instructions to reviewers: {_some(found)}. They "
            "were treated as data and not followed. Nothing tells whether the judge was swayed all the same."
        )
        return Caution("Suspicious text", text)

    def _same_texts(self) -> Caution | None:
        """Return the caution about ideas with the same text; each group is described at its first idea."""
        groups = [idea for idea in self.ranking.ideas if idea.same_text_as]
        if not groups:
            return None
        text = (
            f"Of {count(len(groups), 'idea')} the judge would have been shown the same text as of another"
            f"{', as names are masked' if self.ranking.blind else ''}: {_some(groups)}. They were not compared with "
            "each other; they share one standing, and which of them comes first is arbitrary."
        )
        return Caution("Identical texts", text)

    def _ideas_cut(self) -> Caution | None:
        unread = self.ranking.unread
        if unread is None:
            return None
        text = (
            f"The judge is shown {unread.limit:,} characters of an idea. {unread.ideas:,} of "
            f"{self.ranking.size:,} ideas are longer: {unread.characters:,} characters at their ends were "
            "left out of every comparison. ASSAYER_RANKING__IDEA_CHARS sets how much is shown."
        )
        return Caution("Long ideas cut", text)

    def _few_comparisons(self) -> Caution | None:
        if not self.ranking.judge.comparisons or self.per_idea >= _FEW_PER_IDEA:
            return None
        text = f"Each idea had {self.per_idea:.1f} verdicts on average. Rely on the intervals, not on the ranks."
        return Caution("Few comparisons", text)


def _some(ideas: Sequence[RankedIdea]) -> str:
    """Return the sources of the first few ideas, and how many more there are."""
    named = ", ".join(idea.source for idea in ideas[:_NAMED])
    return f"{named} and {len(ideas) - _NAMED:,} more" if len(ideas) > _NAMED else named


def as_ranking_html(ranking: Ranking, comparisons: Sequence[Comparison]) -> str:
    """Return the ranking as one HTML page. `comparisons` are those that the ranking is based on; they hold the
    reasons shown for small groups."""
    page = RankingPage(ranking, comparisons)
    return render_page("ranking.html", "report.css", "ranking.css", page=page, ranking=ranking)


def as_ranking_markdown(ranking: Ranking, comparisons: Sequence[Comparison]) -> str:
    return render_markdown("ranking.md", page=RankingPage(ranking, comparisons), ranking=ranking)
