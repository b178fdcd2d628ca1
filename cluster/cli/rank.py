"""`assayer rank`: ideas in, one order out, with how sure it is."""

import asyncio
import datetime as dt
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from assayer.errors import InputError
from assayer.models import Idea, IdeaId, judged_blind
from assayer.models.ranking import Comparison, Ranking
from assayer.ranking.comparison import comparisons_to_jsonl
from assayer.ranking.report_evidence import require_blind_evidence
from assayer.reports.json_and_csv import as_csv, as_ranking_json
from assayer.reports.ranking_page import RankingPage, as_ranking_html, as_ranking_markdown
from cluster.cli.options import WithBlind
from cluster.cli.output import make_folder, wide_console, write_files, write_formats
from cluster.cli.terminal import ComparisonProgress, print_error
from cluster.ranking_inputs import comparisons_between, read_comparisons, read_evidence, read_scores
from cluster.settings import PROFILES, Profile, RankingSettings, Settings
from cluster.settings_loading import load_settings

if TYPE_CHECKING:
    from assayer.methods.grapheval.graph.records import LabelledIdea
    from assayer.ranking.pipeline import CompletedRanking

__all__ = ["rank"]


class RankingFormat(StrEnum):
    """In the order in which a person would open them."""

    html = "html"
    md = "md"
    csv = "csv"
    json = "json"


_RENDER: "dict[RankingFormat, Callable[[CompletedRanking], str]]" = {
    RankingFormat.html: lambda ranked: as_ranking_html(ranked.ranking, ranked.comparisons),
    RankingFormat.md: lambda ranked: as_ranking_markdown(ranked.ranking, ranked.comparisons),
    RankingFormat.csv: lambda ranked: as_csv(ranked.ranking),
    RankingFormat.json: lambda ranked: as_ranking_json(ranked.ranking),
}
_COMPARISONS = "comparisons.jsonl"
_SHOWN = 20
"""Ideas in the terminal; the files hold all."""
_REFUSALS_SHOWN = 5


class _RankOptions(NamedTuple):
    """Options of the command that name files."""

    paths: Sequence[Path]
    scores: Path | None
    evidence: Path | None
    known: Path | None
    labelled: Path | None
    label_field: str
    classes: str
    cut: int | None
    blind: bool | None
    """None: as the settings say."""


class _RankResult(NamedTuple):
    ranked: "CompletedRanking"
    remarks: list[str]
    """What was read, and what of it was used."""
    rejected: list[str]
    kept: list[Comparison]
    """Known comparisons of ideas that are not ranked now, or not by these words: they stay in the file."""
    names: dict[IdeaId, str]
    """What the file of known comparisons calls their ideas."""


def rank(
    paths: Annotated[
        list[Path],
        typer.Argument(help="Ideas (.txt .md .json .jsonl .pdf .docx .odt .xlsx), or folders of them."),
    ],
    cut: Annotated[
        int | None,
        typer.Option(
            min=1, help="How many ideas can be selected: shows which are surely in, surely out, or undecided."
        ),
    ] = None,
    by: Annotated[
        str | None, typer.Option(metavar="DIMENSION", help="Dimension to rank by; overall by default.")
    ] = None,
    calls_per_idea: Annotated[float | None, typer.Option(help="Comparisons per idea; 10 by default.")] = None,
    scores: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="JSON reports of `assayer evaluate` whose scores to start from."),
    ] = None,
    evidence: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="JSON reports of `assayer evaluate`: the judge also sees what they found.",
        ),
    ] = None,
    known: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="comparisons.jsonl of an earlier ranking; these are not asked again."),
    ] = None,
    labelled: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Ideas with known outcomes (.jsonl): adds baselines.")
    ] = None,
    label_field: Annotated[str, typer.Option(help="Field of the labelled ideas that holds the outcome.")] = "label",
    classes: Annotated[
        str, typer.Option(help="Outcomes of the labelled ideas from worst to best, separated by commas.")
    ] = "",
    out: Annotated[Path, typer.Option(help="Folder for the ranking.")] = Path("out"),
    formats: Annotated[
        list[RankingFormat] | None, typer.Option("--format", help="Repeat for several. All four by default.")
    ] = None,
    profile: Annotated[Profile, typer.Option(help="Named set of settings.")] = PROFILES[0],
    blind: WithBlind = None,
) -> None:
    """Rank ideas by pairwise comparisons by a language model, with uncertainty intervals."""
    settings = _with_options(load_settings(profile), by, calls_per_idea)
    console = wide_console()
    given = _RankOptions(paths, scores, evidence, known, labelled, label_field, classes, cut, blind)
    try:
        made = asyncio.run(_rank(settings, given, out, console))
    except KeyboardInterrupt:
        print_error("Interrupted.", "Answers so far are saved: run the same command to continue.")
        raise
    for remark in made.remarks:
        console.print(escape(remark), soft_wrap=True)
    _show(console, made.ranked.ranking, _write(made, out, formats))
    for message in made.rejected:
        print_error("Not ranked:", message)
    if made.rejected or not made.ranked.ranking.judge.comparisons:
        raise typer.Exit(1)


def _with_options(settings: Settings, by: str | None, calls_per_idea: float | None) -> Settings:
    """The settings with what the command line says of the ranking."""
    ranking = settings.ranking
    names = [one.name for one in ranking.dimensions]
    if by is not None and by not in names:
        raise InputError(f"There is no dimension {by!r}.", f"Dimensions: {', '.join(names)}.")
    said = {"order_by": by, "calls_per_idea": calls_per_idea}
    try:
        chosen = RankingSettings.model_validate(
            {**ranking.model_dump(), **{name: value for name, value in said.items() if value is not None}}
        )
    except ValidationError:
        raise InputError(f"--calls-per-idea {calls_per_idea:g} must be more than 0.") from None
    return settings.model_copy(update={"ranking": chosen})


async def _rank(settings: Settings, given: _RankOptions, out: Path, console: Console) -> _RankResult:
    from assayer.blinding.blind import RULES
    from assayer.ranking.comparison import judging_now
    from assayer.ranking.known_comparisons import other_words
    from cluster.ranker import RankingInputs, open_ranker, require_llm
    from cluster.run_request import RunRequest
    from cluster.telemetry import metrics_server
    from workers.documents.idea_reader import read_ideas

    require_llm(settings)
    ideas, rejected = await read_ideas(given.paths, latest_cutoff=dt.datetime.now(dt.UTC).date())
    if len(ideas) < 2 and rejected:
        raise InputError(f"{_some([one.message for one in rejected])} A ranking needs two ideas, and has {len(ideas)}.")
    blind = judged_blind(given.blind, settings.evaluation.blind, several=True)
    remarks: list[str] = []
    evidence: dict[IdeaId, str] | None = None
    if given.evidence:
        evidence = _evidence(given.evidence, ideas, settings.ranking.evidence_chars, blind)
        remarks.append(f"What reports found is shown of {len(evidence):,} of {len(ideas):,} ideas.")
    known, kept, names = [], list[Comparison](), dict[IdeaId, str]()
    if given.known:
        (read, names), rules = read_comparisons(given.known), RULES if blind else None
        model = settings.llm.model if settings.llm else None
        judging = judging_now(settings.ranking, model, rules, evidence is not None)
        between = comparisons_between(ideas, read, judging, given.known)
        known, used = between.usable, set(map(id, between.usable))
        kept = [one for one in read if id(one) not in used]
        remarks.append(f"{len(known):,} of {len(read):,} known comparisons are between these ideas.")
        if between.refused:
            remarks.append(other_words(between.refused, judging))
    scores: dict[IdeaId, float] = {}
    if given.scores:
        scores, absent = read_scores(given.scores)
        reasons = [f"No score in {count:,} of the reports: {reason}" for reason, count in absent.most_common()]
        found = sum(idea.id in scores for idea in ideas)
        if not found:
            raise InputError(f"No report in {given.scores} scores one of these {len(ideas)} ideas.", _some(reasons))
        remarks += reasons
        remarks.append(f"{found:,} of {len(ideas):,} ideas start from their score; the others start in the middle.")
    labelled, outcomes = _labelled(given)
    make_folder(out, "The ranking")
    ids = {idea.id for idea in ideas}
    started = {one: score for one, score in scores.items() if one in ids}
    wanted = RankingInputs(ideas, given.cut, started, known, labelled, outcomes, evidence=evidence)
    with metrics_server(settings.metrics), ComparisonProgress(console) as bar:
        async with open_ranker(settings) as ranker:
            ranked = await ranker.rank(wanted, bar, RunRequest(blind=blind))
    return _RankResult(ranked, remarks, [one.message for one in rejected], [*kept, *ranked.set_aside], names)


def _some(messages: Sequence[str]) -> str:
    more = len(messages) - _REFUSALS_SHOWN
    return " ".join([*messages[:_REFUSALS_SHOWN], *([f"(And {more:,} more.)"] if more > 0 else [])])


def _evidence(folder: Path, ideas: Sequence[Idea], chars: int, blind: bool) -> dict[IdeaId, str]:
    """Of those ideas that have a report."""
    read = read_evidence(folder, chars)
    found = {one.id: read.by_idea[one.id] for one in ideas if one.id in read.by_idea}
    if not found:
        raise InputError(f"No report in {folder} is of one of these {len(ideas)} ideas.", "Evaluate them first.")
    if blind:
        require_blind_evidence(ideas, read.blind)
    return found


def _labelled(given: _RankOptions) -> "tuple[list[LabelledIdea], tuple[str, ...]]":
    if given.labelled is None:
        return [], ()
    from cluster.labelled_ideas import FieldNames, outcome_classes, read_labelled_ideas

    ideas = read_labelled_ideas([given.labelled], FieldNames(label=given.label_field))
    outcomes = outcome_classes(ideas, [one.strip() for one in given.classes.split(",") if one.strip()])
    if not given.classes:
        raise InputError(
            f"{given.labelled} has the outcomes {', '.join(outcomes)}, but their order is not given.",
            "Name them from worst to best with --classes.",
        )
    return ideas, outcomes


def _write(made: _RankResult, out: Path, formats: Sequence[RankingFormat] | None) -> list[Path]:
    pages = write_formats(out / "ranking", made.ranked, _RENDER, formats)
    names = made.names | {one.id: one.reference for one in made.ranked.ranking.ideas if one.reference}
    comparisons = comparisons_to_jsonl([*made.ranked.comparisons, *made.kept], names)
    return [*pages, *write_files({out / _COMPARISONS: comparisons})]


def _show(console: Console, ranking: Ranking, files: Sequence[Path]) -> None:
    page = RankingPage(ranking, ())
    if page.blindness:
        console.print(f"{page.blindness[0].upper()}{page.blindness[1:]}.", soft_wrap=True)
    for caution in page.cautions:
        console.print(f"[yellow]![/] {caution.title}: {escape(caution.text)}", soft_wrap=True)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("Rank", "Between", *(["In"] if ranking.cut else []), "Idea"):
        table.add_column(heading, overflow="fold", justify="left" if heading == "Idea" else "right")
    for idea in ranking.ideas[:_SHOWN]:
        chance = [] if idea.chance_in is None else [f"{100 * idea.chance_in:.0f} %"]
        between = f"{idea.ranks.low:.0f}–{idea.ranks.high:.0f}"
        table.add_row(str(idea.rank), between, *chance, escape(idea.title))
    console.print(table)
    if len(ranking.ideas) > _SHOWN:
        console.print(f"… and {len(ranking.ideas) - _SHOWN:,} more.")
    if ranking.cut is not None:
        console.print("; ".join(f"{one.title}: {len(one.ideas):,}" for one in page.groups) + ".", soft_wrap=True)
    judge = ranking.judge
    console.print(
        f"{judge.comparisons:,} comparisons, {judge.failed:,} without a usable answer, {judge.ties:,} ties; "
        f"{judge.contradictions} of {judge.asked_both_ways} pairs judged differently in the other order; "
        f"{judge.cycles} of {judge.triangles} triples are circular (25% by chance).",
        soft_wrap=True,
    )
    console.print(escape(f"Written: {', '.join(map(str, files))}"), soft_wrap=True)
