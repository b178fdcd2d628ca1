"""`assayer rank`: rank ideas, and show how uncertain the ranking is."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich.markup import escape

from assayer.errors import InputError
from assayer.models import Idea, IdeaId, is_judged_blind
from assayer.ranking.comparison import format_comparisons
from assayer.ranking.report_evidence import require_blind_evidence
from assayer.reports.json_and_csv import render_csv, render_json
from assayer.reports.ranking_page import RankingPage, render_ranking_html, render_ranking_markdown
from assayer.reports.wording import format_count
from assayer_client.comparisons import Comparison
from assayer_client.rankings import Ranking
from cluster.cli.idea_inputs import read_idea_inputs
from cluster.cli.options import (
    IdeaPaths,
    WithBlind,
    WithJson,
    WithLocalModel,
    WithModel,
    WithProfile,
    split_at_commas,
    update_section,
)
from cluster.cli.output import make_folder, write_files, write_formats
from cluster.cli.terminal import StepProgress, print_error, print_json, print_markup, run_resumable, show_table
from cluster.local_model import start_chosen_model
from cluster.ranking_inputs import read_comparisons, read_evidence, read_scores, select_comparisons_between
from cluster.settings import Settings

if TYPE_CHECKING:
    from assayer.methods.grapheval.graph.records import LabelledIdea
    from assayer.ranking.pipeline import CompletedRanking


class RankingFormat(StrEnum):
    """Ranking formats, in the order in which a person would open them."""

    html = "html"
    md = "md"
    csv = "csv"
    json = "json"


_RENDER: "dict[RankingFormat, Callable[[CompletedRanking], str]]" = {
    RankingFormat.html: lambda ranked: render_ranking_html(ranked.ranking, ranked.comparisons),
    RankingFormat.md: lambda ranked: render_ranking_markdown(ranked.ranking, ranked.comparisons),
    RankingFormat.csv: lambda ranked: render_csv(ranked.ranking),
    RankingFormat.json: lambda ranked: render_json(ranked.ranking),
}
_COMPARISONS = "comparisons.jsonl"
_MAX_SHOWN_IDEAS = 20
"""Maximum number of ideas shown in the terminal. The files list all of them."""
_MAX_SHOWN_REFUSALS = 5


class _RankOptions(NamedTuple):
    """Command options that name files."""

    paths: Sequence[Path]
    scores: Path | None
    evidence: Path | None
    known: Path | None
    labelled: Path | None
    label_field: str
    classes: str
    shortlist_size: int | None
    blind: bool | None
    """Whether to mask ideas; None uses the settings."""


class _RankResult(NamedTuple):
    ranked: "CompletedRanking"
    remarks: list[str]
    """Remarks on the inputs, and on which of them were used."""
    rejected: list[str]
    kept: list[Comparison]
    """Known comparisons of ideas that are not in this ranking or whose texts have changed. They are kept in the
    file."""
    names: dict[IdeaId, str]
    """Names of the compared ideas in the file of known comparisons."""


def rank(
    paths: IdeaPaths,
    shortlist_size: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of ideas to select; shows which are certainly in, certainly out, or undecided."
        ),
    ] = None,
    by: Annotated[
        str | None, typer.Option(metavar="DIMENSION", help="Dimension to rank by; overall by default.")
    ] = None,
    comparisons_per_idea: Annotated[float | None, typer.Option(help="Comparisons per idea; 10 by default.")] = None,
    scores: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="JSON reports from `assayer evaluate`; the ranking starts from their scores."
        ),
    ] = None,
    evidence: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="JSON reports from `assayer evaluate`; the judge also sees their findings.",
        ),
    ] = None,
    known: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="comparisons.jsonl from an earlier ranking; its pairs are not judged again."),
    ] = None,
    labelled: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Ideas with known outcomes (.jsonl), which add baselines.")
    ] = None,
    label_field: Annotated[str, typer.Option(help="Field that holds a labelled idea's outcome.")] = "label",
    classes: Annotated[
        str, typer.Option(help="The labelled ideas' outcomes from worst to best, separated by commas.")
    ] = "",
    out: Annotated[Path, typer.Option(help="Folder for the ranking.")] = Path("out"),
    formats: Annotated[
        list[RankingFormat] | None, typer.Option("--format", help="Format; repeat for several. By default all four.")
    ] = None,
    profile: WithProfile = "laptop",
    blind: WithBlind = None,
    model: WithModel = None,
    local_model: WithLocalModel = None,
    as_json: WithJson = False,
) -> None:
    """Rank ideas with pairwise comparisons by a language model, and uncertainty intervals."""
    options = _RankOptions(paths, scores, evidence, known, labelled, label_field, classes, shortlist_size, blind)
    with start_chosen_model(profile, model, local_model) as chosen:
        rank_result = run_resumable(
            _rank(_apply_ranking_options(chosen.settings, by, comparisons_per_idea), options, out)
        )
    files = write_ranking(rank_result.ranked, out, formats, rank_result.kept, rank_result.names)
    if as_json:
        print_json({"ranking": rank_result.ranked.ranking, "remarks": rank_result.remarks, "files": files})
    else:
        for remark in rank_result.remarks:
            print_markup(escape(remark))
        _show(rank_result.ranked.ranking, files)
    for message in rank_result.rejected:
        print_error("Not ranked:", message)
    if rank_result.rejected or not rank_result.ranked.ranking.judge.comparisons:
        raise typer.Exit(1)


def _apply_ranking_options(settings: Settings, by: str | None, comparisons_per_idea: float | None) -> Settings:
    """Return the settings with the command-line options for the ranking applied."""
    names = [dimension.name for dimension in settings.ranking.dimensions]
    if by is not None and by not in names:
        raise InputError(f"Unknown dimension {by!r}.", f"Dimensions: {', '.join(names)}.")
    if comparisons_per_idea is not None and comparisons_per_idea <= 0:
        raise InputError(f"--comparisons-per-idea must be more than 0, not {comparisons_per_idea:g}.")
    return update_section(settings, "ranking", {"order_by": by, "comparisons_per_idea": comparisons_per_idea})


async def _rank(settings: Settings, options: _RankOptions, out: Path) -> _RankResult:
    from assayer.blinding.blind import RULES
    from assayer.ranking.comparison import describe_judging
    from assayer.ranking.known_comparisons import explain_refused
    from cluster.language_model import require_llm
    from cluster.ranker import RankingInputs, open_ranker
    from cluster.run_request import RunRequest
    from cluster.telemetry import serve_metrics

    require_llm(settings, "A ranking")
    ideas, rejected = await read_idea_inputs(options.paths, settings)
    if len(ideas) < 2 and rejected:
        raise InputError(
            f"{_join_first_messages([item.message for item in rejected])} "
            f"A ranking needs at least two ideas, but has {len(ideas)}."
        )
    blind = is_judged_blind(options.blind, settings.evaluation.blind, several=True)
    remarks: list[str] = []
    evidence: dict[IdeaId, str] | None = None
    if options.evidence:
        evidence = _read_evidence(options.evidence, ideas, settings.ranking.evidence_chars, blind)
        remarks.append(f"The judge sees report findings for {len(evidence):,} of {len(ideas):,} ideas.")
    known, kept, names = [], list[Comparison](), dict[IdeaId, str]()
    if options.known:
        (known_comparisons, names), rules = read_comparisons(options.known), RULES if blind else None
        model = settings.llm.model if settings.llm else None
        judging = describe_judging(settings.ranking, model, rules, evidence is not None)
        comparisons = select_comparisons_between(ideas, known_comparisons, judging, options.known)
        known, used = comparisons.usable, set(map(id, comparisons.usable))
        kept = [comparison for comparison in known_comparisons if id(comparison) not in used]
        remarks.append(f"{len(known):,} of {len(known_comparisons):,} known comparisons are about these ideas.")
        if comparisons.refused:
            remarks.append(explain_refused(comparisons.refused, judging))
    scores: dict[IdeaId, float] = {}
    if options.scores:
        scores, absent = read_scores(options.scores)
        reasons = [f"No score in {count:,} of the reports: {reason}" for reason, count in absent.most_common()]
        scored_count = sum(idea.id in scores for idea in ideas)
        if not scored_count:
            raise InputError(
                f"No report in {options.scores} has a score for any of these {len(ideas)} ideas.",
                _join_first_messages(reasons),
            )
        remarks += reasons
        remarks.append(
            f"{scored_count:,} of {len(ideas):,} ideas start from their score; the others start from the "
            "middle of the scale."
        )
    labelled, outcomes = _read_labelled_ideas(options)
    make_folder(out, "The ranking")
    ids = {idea.id for idea in ideas}
    starting_scores = {idea_id: score for idea_id, score in scores.items() if idea_id in ids}
    ranking_inputs = RankingInputs(
        ideas, options.shortlist_size, starting_scores, known, labelled, outcomes, evidence=evidence
    )
    with serve_metrics(settings.metrics), StepProgress("Comparisons") as bar:
        async with open_ranker(settings) as ranker:
            ranking = await ranker.rank(ranking_inputs, bar, RunRequest(blind=blind))
    return _RankResult(
        ranking, remarks, [rejection.message for rejection in rejected], [*kept, *ranking.set_aside], names
    )


def _join_first_messages(messages: Sequence[str]) -> str:
    remaining_count = len(messages) - _MAX_SHOWN_REFUSALS
    return " ".join(
        [*messages[:_MAX_SHOWN_REFUSALS], *([f"(And {remaining_count:,} more.)"] if remaining_count > 0 else [])]
    )


def _read_evidence(folder: Path, ideas: Sequence[Idea], chars: int, blind: bool) -> dict[IdeaId, str]:
    """Return the report evidence for each idea that has a report."""
    report_evidence = read_evidence(folder, chars)
    evidence = {idea.id: report_evidence.by_idea[idea.id] for idea in ideas if idea.id in report_evidence.by_idea}
    if not evidence:
        raise InputError(f"No report in {folder} is about any of these {len(ideas)} ideas.", "Evaluate them first.")
    if blind:
        require_blind_evidence(ideas, report_evidence.blind)
    return evidence


def _read_labelled_ideas(options: _RankOptions) -> "tuple[list[LabelledIdea], tuple[str, ...]]":
    if options.labelled is None:
        return [], ()
    from cluster.labelled_ideas import FieldNames, derive_outcome_classes, read_labelled_ideas

    ideas = read_labelled_ideas([options.labelled], FieldNames(label=options.label_field))
    outcomes = derive_outcome_classes(ideas, split_at_commas(options.classes))
    if not options.classes:
        raise InputError(
            f"{options.labelled} has the outcomes {', '.join(outcomes)}, in no known order.",
            "Pass --classes with the outcomes from worst to best.",
        )
    return ideas, outcomes


def write_ranking(
    ranked: "CompletedRanking",
    out: Path,
    formats: Sequence[RankingFormat] | None = None,
    kept: Sequence[Comparison] = (),
    names: Mapping[IdeaId, str] | None = None,
) -> list[Path]:
    """Write a ranking in the formats (by default all), and its comparisons; return the paths. The comparisons in `kept`
    are written too, with the names of their ideas. Raises InputError if a file cannot be written."""
    pages = write_formats(out / "ranking", ranked, _RENDER, formats)
    names = {**(names or {}), **{idea.id: idea.reference for idea in ranked.ranking.ideas if idea.reference}}
    comparisons = format_comparisons([*ranked.comparisons, *kept], names)
    return [*pages, *write_files({out / _COMPARISONS: comparisons})]


def _show(ranking: Ranking, files: Sequence[Path]) -> None:
    page = RankingPage(ranking, ())
    if page.blindness:
        print_markup(f"{page.blindness[0].upper()}{page.blindness[1:]}.")
    for caution in page.cautions:
        print_markup(f"[yellow]![/] {caution.title}: {escape(caution.text)}")
    figures = ("Rank", "Between", *(["In"] if ranking.shortlist_size else []))
    rows = [
        (
            str(idea.rank),
            f"{idea.ranks.low:.0f}–{idea.ranks.high:.0f}",
            *([] if idea.shortlist_probability is None else [f"{100 * idea.shortlist_probability:.0f} %"]),
            idea.title,
        )
        for idea in ranking.ideas[:_MAX_SHOWN_IDEAS]
    ]
    show_table((*figures, "Idea"), rows, figures)
    if len(ranking.ideas) > _MAX_SHOWN_IDEAS:
        print_markup(f"… and {len(ranking.ideas) - _MAX_SHOWN_IDEAS:,} more.")
    if ranking.shortlist_size is not None:
        print_markup("; ".join(f"{group.title}: {len(group.ideas):,}" for group in page.groups) + ".")
    judge = ranking.judge
    print_markup(
        f"{judge.comparisons:,} comparisons, {judge.failed:,} without a usable answer, "
        f"{format_count(judge.ties, 'tie')}; {judge.contradictions} of {judge.pairs_in_both_orders} pairs judged "
        "differently in the other order; "
        f"{judge.cycles} of {judge.triangles} triples are circular (25% by chance)."
    )
    print_markup(escape(f"Written: {', '.join(map(str, files))}"))
