"""`assayer graph`: build, train, query and extend a graph of labelled ideas, and check ideas for duplicates."""

import asyncio
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.markup import escape

from cluster.cli.options import IdeaPaths, WithJson, WithProfile, parse_day_option, split_at_commas
from cluster.cli.output import prepare_file
from cluster.cli.standard_input import replace_standard_input
from cluster.cli.terminal import Outcome, StageProgress, print_error, print_json, print_markup, show_facts
from cluster.settings_loading import load_settings
from cluster.whole_files import write_whole

if TYPE_CHECKING:
    from assayer.methods.grapheval.plagiarism import Resemblance
    from assayer.methods.grapheval.scoring.metrics import Estimate
    from assayer.models import ScorerChoice
    from cluster.graph_operations import BatchCheck
    from cluster.graph_training import TrainingResult

app = typer.Typer(
    help="Compare ideas with labelled ideas (GraphEval): build, train, add, check, info.",
    no_args_is_help=True,
)

Files = Annotated[
    list[Path],
    typer.Argument(
        help="Labelled ideas: .jsonl or .jsonl.gz, one JSON object per line; - for standard input.",
        callback=replace_standard_input,
    ),
]
Name = Annotated[str | None, typer.Option("--graph", help="Name of the graph; by default ASSAYER_GRAPHEVAL__GRAPH.")]
LabelField = Annotated[str, typer.Option(help="Field that holds the outcome.")]
DateField = Annotated[str, typer.Option(help="Field that holds the date; `publication_date` and `year` are tried too.")]


_MAX_SHOWN_PAIRS = 3
_HARDLY_CHANCE = 0.6


ViewpointMaker = Literal["splitter", "model"]
ScorerName = Literal["best", "propagation", "network"]


@app.command()
def build(
    files: Files,
    graph: Name = None,
    label_field: LabelField = "label",
    date_field: DateField = "date",
    classes: Annotated[
        str, typer.Option(help="Outcomes from worst to best, separated by commas; by default, unordered.")
    ] = "",
    viewpoints: Annotated[
        ViewpointMaker,
        typer.Option(help="How ideas are split into viewpoints: by a sentence splitter or a language model."),
    ] = "splitter",
    relations: Annotated[
        bool,
        typer.Option(
            "--relations",
            help="Let the language model draw the edges within each idea, instead of using cosine similarity.",
        ),
    ] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Delete an existing graph of this name first.")] = False,
    profile: WithProfile = "laptop",
    as_json: WithJson = False,
) -> None:
    """Build a graph from labelled ideas with the fields text (or title and abstract), label, date, id and url. If any
    idea cannot be added, none is."""
    from cluster.graph_operations import LabelledFiles, build_graph

    settings = load_settings(profile)
    outcomes = split_at_commas(classes)
    sources, by_model = LabelledFiles(tuple(files), label_field, date_field), viewpoints == "model"
    with StageProgress() as report:
        plan, added_ideas = asyncio.run(
            build_graph(settings, graph, sources, outcomes, by_model, relations, replace, report)
        )
    with Outcome(as_json=as_json) as outcome:
        outcome.add(
            f"Graph {plan.name}: {added_ideas.ideas:,} ideas added, {added_ideas.viewpoints:,} viewpoints, "
            f"{added_ideas.edges:,} edges; {added_ideas.known:,} were already in the graph. "
            f"Outcomes: {escape(', '.join(plan.classes))}.",
            "Next: run `assayer graph train` to fit the calibration that verdicts need.",
            graph=plan.name,
            outcomes=plan.classes,
            **added_ideas._asdict(),
        )


@app.command()
def add(
    files: Files,
    graph: Name = None,
    label_field: LabelField = "label",
    date_field: DateField = "date",
    profile: WithProfile = "laptop",
    as_json: WithJson = False,
) -> None:
    """Add ideas to a graph, with or without outcomes. Also records outcomes that have become known for ideas already in
    the graph."""
    from cluster.graph_operations import LabelledFiles, add_ideas

    with StageProgress() as report:
        sources = LabelledFiles(tuple(files), label_field, date_field)
        added = asyncio.run(add_ideas(load_settings(profile), graph, sources, report))
    with Outcome(as_json=as_json) as outcome:
        outcome.add(
            f"{added.ideas:,} ideas added, {added.viewpoints:,} viewpoints, {added.edges:,} edges; {added.known:,} "
            f"were already in the graph, {added.labelled:,} of them now have an outcome.",
            **added._asdict(),
        )


@app.command()
def train(
    graph: Name = None,
    scorer: Annotated[
        ScorerName,
        typer.Option(
            help="Scorer for verdicts; `best` chooses among propagation and regressions on words and embeddings."
        ),
    ] = "best",
    folds: Annotated[int, typer.Option(min=2, help="Number of cross-validation folds.")] = 5,
    after: Annotated[
        str | None, typer.Option(help="YYYY-MM-DD: hold out ideas dated later, instead of using random folds.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed for the folds and the network.")] = 0,
    epochs: Annotated[int | None, typer.Option(min=1, help="Maximum number of training epochs of the network.")] = None,
    members: Annotated[int | None, typer.Option(min=1, help="Number of networks whose answers are averaged.")] = None,
    as_json: WithJson = False,
) -> None:
    """Choose and calibrate a scorer on held-out labelled ideas, and measure its quality."""
    from cluster.graph_operations import train_graph
    from cluster.graph_training import Holdout, NetworkEffort

    holdout = Holdout(folds, parse_day_option(after, "date for --after"), seed)
    with StageProgress() as report:
        effort = NetworkEffort(epochs, members)
        training_result = asyncio.run(train_graph(load_settings(), graph, scorer, holdout, effort, report))
    with Outcome(as_json=as_json) as outcome:
        facts = training_result._asdict() | {"calibration": training_result.calibration.name}
        outcome.add(*map(escape, _describe_training(training_result)), **facts)


@app.command()
def check(
    paths: IdeaPaths,
    graph: Name = None,
    cosine: Annotated[
        float | None,
        typer.Option(
            min=0.01,
            max=1.0,
            help="Minimum similarity of a copied viewpoint; 0.85 with the packaged embedding model.",
        ),
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(min=0.01, max=1.0, help="Minimum share of copied viewpoints in a reported idea; 0.5 by default."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write all findings to this JSON file.")] = None,
    profile: WithProfile = "laptop",
    as_json: WithJson = False,
) -> None:
    """Find ideas that duplicate others in the same input or in the graph, if there is one. A match is a reason to look,
    not proof."""
    from cluster.graph_operations import check_batch

    if out is not None:
        prepare_file(out)
    with StageProgress() as report:
        batch_check = asyncio.run(check_batch(load_settings(profile), graph, paths, cosine, share, report))
    content = {
        heading: [resemblance.model_dump() for resemblance in resemblances]
        for heading, resemblances in batch_check.found.items()
    }
    if as_json:
        print_json(content)
    else:
        _show_batch_check(batch_check)
    if out is not None:
        write_whole(out, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    if batch_check.rejected:
        raise typer.Exit(1)


@app.command()
def info(graph: Name = None, as_json: WithJson = False) -> None:
    """Show a graph's contents and how it was built."""
    from cluster.graph_operations import describe_graph

    show_facts(asyncio.run(describe_graph(load_settings(), graph)), as_json=as_json)


def _show_batch_check(batch_check: "BatchCheck") -> None:
    for rejected in batch_check.rejected:
        print_error("Not read:", rejected)
    for heading, resemblances in batch_check.found.items():
        print_markup(f"[bold]{escape(heading)}[/]: {len(resemblances)} of {batch_check.ideas} ideas")
        for resemblance in resemblances:
            _show_resemblance(batch_check, resemblance)


def _show_resemblance(batch_check: "BatchCheck", resemblance: "Resemblance") -> None:
    """Print the idea, the most similar other idea, and their most similar viewpoints side by side."""
    idea, closest = (escape(batch_check.names.get(name, name)) for name in (resemblance.idea, resemblance.closest))
    share_text = f"{resemblance.share:.0%} of {resemblance.viewpoints} viewpoints"
    print_markup(f"  {resemblance.kind}: {idea} ~ {closest}, {share_text}")
    for pair in sorted(resemblance.pairs, key=lambda pair: -pair.cosine)[:_MAX_SHOWN_PAIRS]:
        print_markup(f"    {escape(pair.text)}")
        print_markup(f"    [dim]{pair.cosine:.2f} {escape(pair.other_text)}[/]")


def _describe_training(training_result: "TrainingResult") -> list[str]:
    calibration, scorer, baseline, auroc = (
        training_result.calibration,
        training_result.scorer,
        training_result.usual,
        training_result.auroc,
    )
    lines = [
        f"Calibrated {calibration.scorer} on {training_result.ideas:,} ideas, {calibration.provenance.split}. "
        "Measured on ideas held out from both training and calibration:",
        f"  this scorer: accuracy {scorer.accuracy:.3f}, calibration error "
        f"{_format_estimate(scorer.calibration_error)}, Brier score {_format_estimate(scorer.brier)}, AUROC "
        f"{_format_estimate(auroc)}",
        f"  always the most frequent outcome, {training_result.commonest}: accuracy {baseline.accuracy:.3f}, "
        f"calibration error {_format_estimate(baseline.calibration_error)}, "
        f"Brier score {_format_estimate(baseline.brier)}, AUROC 0.5",
    ]
    if training_result.choice is not None:
        lines += _format_choice(training_result.choice)
    if scorer.accuracy <= baseline.accuracy:
        lines.append("The scorer is no more accurate than always answering the most frequent outcome.")
    elif scorer.accuracy - baseline.accuracy < _compute_standard_error(baseline.accuracy, training_result.ideas):
        lines.append(
            "The scorer is only slightly more accurate than always answering the most frequent outcome; this may be "
            "chance."
        )
    if auroc.low <= 0.5 or auroc.value < _HARDLY_CHANCE:
        lines.append(
            "The scorer hardly separates the outcomes: rely on a verdict's evidence, not on its probabilities."
        )
    return lines


def _format_choice(choice: "ScorerChoice") -> Iterator[str]:
    yield f"Chosen: {choice.scorer}. AUROC on held-out ideas, with 95 % intervals:"
    for estimate in (choice.held_out_accuracy, *choice.scorer_accuracies):
        yield f"  {estimate.name}: {estimate.auroc:.3f} ({estimate.low:.3f} to {estimate.high:.3f})"
    if choice.baselines_not_beaten:
        yield f"The chosen scorer was not shown to be better than {' or '.join(choice.baselines_not_beaten)}."


def _format_estimate(estimate: "Estimate") -> str:
    return f"{estimate.value:.3f} (95 %: {estimate.low:.3f} to {estimate.high:.3f})"


def _compute_standard_error(share: float, ideas: int) -> float:
    return math.sqrt(share * (1 - share) / ideas)
