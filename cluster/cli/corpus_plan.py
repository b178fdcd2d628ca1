"""`assayer corpus plan`: estimate the resources needed for a corpus of a given size."""

import re
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from assayer.errors import InputError
from cluster.cli.options import WithJson
from cluster.cli.terminal import format_size, print_json, print_markup, show_table

if TYPE_CHECKING:
    from index.capacity_planning import CapacityRequest, PlannedFigure, PlanningConstants

_TIMES = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9}


def plan(
    papers: Annotated[str, typer.Option(help="Number of papers, such as 200M, 25k or 1000000.")],
    model: Annotated[str, typer.Option("--embedding-model", metavar="NAME")] = "all-MiniLM-L6-v2",
    machine: Annotated[str, typer.Option(help="Kind of machine: cpu-2 or gpu-1.")] = "cpu-2",
    full_texts: Annotated[float, typer.Option(min=0, max=1, help="Share of papers with full text.")] = 0.0,
    daily: Annotated[
        float, typer.Option(min=0, max=1, help="Share of papers that are new or changed each night.")
    ] = 0.001,
    machines: Annotated[int, typer.Option(min=1, help="Number of machines that build together.")] = 1,
    keep: Annotated[int, typer.Option(min=1, help="Versions to keep on disk.")] = 3,
    shards: Annotated[
        int | None, typer.Option(min=1, help="Number of shards, which bounds each process's memory; none by default.")
    ] = None,
    usd_per_hour: Annotated[float | None, typer.Option(min=0, help="Cost of one such machine per hour.")] = None,
    texts_per_second: Annotated[
        float | None, typer.Option(help="Your own measured embedding speed, in abstracts per second.")
    ] = None,
    as_json: WithJson = False,
) -> None:
    """Estimate a corpus's disk space, memory, build time and cost before building it, each with its formula."""
    from index.capacity_planning import CapacityRequest, load_planning_constants, plan_capacity

    capacity_request = CapacityRequest(
        papers=_parse_count(papers),
        model=model.rsplit("/", 1)[-1],  # without the publisher's name
        profile=machine,
        full_texts=full_texts,
        daily=daily,
        machines=machines,
        keep=keep,
        shards=shards,
        usd_per_hour=usd_per_hour,
        texts_per_second=texts_per_second,
    )
    constants = load_planning_constants()
    capacity = plan_capacity(capacity_request, constants)
    if as_json:
        print_json(capacity)
        return
    for title, figures in zip(("Disk", "Memory", "Building", "Every night"), capacity, strict=True):
        show_table(
            (title, "", "Formula"),
            [(figure.name, _format_value(figure), figure.formula) for figure in figures],
            figures=("",),
        )
        print_markup("")
    for line in _list_sources(capacity_request, constants):
        print_markup(f"[dim]{escape(line)}[/]")


def _parse_count(text: str) -> int:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kmb]?)", text.strip().lower().replace(",", "").replace("_", ""))
    if not match or not (count := round(float(match[1]) * _TIMES[match[2]])):
        raise InputError(f"{text!r} is not a number of papers.", "Use a number such as 200M, 25k or 1000000.")
    return count


def _format_value(figure: "PlannedFigure") -> str:
    if figure.unit == "bytes":
        return format_size(figure.value)
    if figure.unit == "USD":
        return f"{figure.value:,.2f} USD"
    return f"{figure.value:,.1f} h" if figure.value >= 1 else f"{figure.value * 60:,.1f} min"


def _list_sources(capacity_request: "CapacityRequest", constants: "PlanningConstants") -> list[str]:
    profile = constants.profiles[capacity_request.profile]
    speed = profile.rates[capacity_request.model].source if capacity_request.texts_per_second is None else "given"
    price = profile.price if capacity_request.usd_per_hour is None else "given"
    return [
        f"{capacity_request.profile}: {profile.what}.",
        f"Embedding: {speed}.",
        f"Price: {price}.",
        "Where each constant was measured or published: index/capacity_planning.toml.",
    ]
