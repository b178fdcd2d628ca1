"""Plans a cluster for a number of ideas per hour and of papers, by calculation from measured and assumed figures.

python -m benchmarks.scale python -m benchmarks.scale --ideas 500 --papers 1M --set usd_a_gpu_hour=2.5 --set
cached_share=0.4
"""

import argparse
import re
from collections.abc import Sequence

from pydantic import SecretStr
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from assayer.errors import InputError
from benchmarks.measuring import build_parser
from benchmarks.scale.assumptions import Assumptions, read_assumptions
from benchmarks.scale.planning import Load, ScalePlan, plan_scale
from cluster.typical_usage import estimate_typical_evaluations
from workers.llm import LlmSettings

_WIDTH = 140
"""Table width in characters, also if written to a file."""
_MULTIPLES = {"": 1, "k": 10**3, "m": 10**6}
_COLUMNS = (
    "ideas/h",
    "papers",
    "cores",
    "of hops",
    "pods",
    "memory",
    "GPUs",
    "USD/h",
    "USD/idea",
    "with endpoint",
    "nearest limit",
)


def main() -> None:
    options = _parse_options()
    try:
        assumptions = read_assumptions().override(options.set)
        counts = [_parse_count(text) for text in options.papers]
    except InputError as error:
        raise SystemExit(str(error)) from None
    idea = estimate_typical_evaluations(
        LlmSettings(base_url="http://127.0.0.1/v1", model="any", api_key=SecretStr("none"))
    )[options.method]
    loads = [Load(ideas, papers, idea) for papers in counts for ideas in options.ideas]
    console = Console(highlight=False, soft_wrap=True, width=_WIDTH)
    console.print(_build_table([(load, plan_scale(load, assumptions)) for load in loads]))
    console.print(
        f"One idea with {options.method}: {idea.calls:g} calls, {idea.prompt_tokens:,.0f} tokens read, "
        f"{idea.completion_tokens:,.0f} written (cluster/typical_usage.toml; "
        "answer lengths are the simulator's guess)."
    )
    console.print("This is a plan of the pools, not a measurement. The database, GROBID and head nodes are extra.")
    for line in _list_sources(assumptions):
        console.print(escape(line))


def _parse_options() -> argparse.Namespace:
    parser = build_parser("scale", __doc__)
    parser.add_argument("--ideas", type=float, nargs="+", default=[100, 1_000, 10_000], help="ideas per hour")
    parser.add_argument("--papers", nargs="+", default=["25k", "10M", "200M"])
    parser.add_argument("--method", choices=("scholareval", "innoeval", "scicompanion"), default="scholareval")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="replace a figure")
    return parser.parse_args()


def _parse_count(text: str) -> int:
    match = re.fullmatch(r"(\d{1,12})([km]?)", text.lower())
    if not match or not int(match[1]):
        raise InputError(f"{text!r} is not a number of papers.", "Use a number such as 200M, 25k or 1000000.")
    return int(match[1]) * _MULTIPLES[match[2]]


def _build_table(plans: Sequence[tuple[Load, ScalePlan]]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in _COLUMNS:
        table.add_column(name, justify="left" if name == "nearest limit" else "right", no_wrap=True)
    for load, plan in plans:
        limit = plan.nearest_limit
        table.add_row(
            f"{load.ideas:,.0f}",
            f"{load.papers:,}",
            f"{plan.cores:,.1f}",
            f"{plan.hop_cores:,.2f}",
            f"{plan.pods} ({plan.limiting_resource})",
            f"{plan.memory_bytes / 1e9:,.0f} GB",
            str(plan.gpus),
            f"{plan.usd_an_hour:,.2f}",
            f"{plan.usd_an_hour / load.ideas:.3f}",
            f"{plan.usd_an_hour_with_endpoint / load.ideas:.3f}",
            f"{limit}: {plan.limits[limit]:.0%}" + (" - BEYOND" if plan.limits[limit] > 1 else ""),
        )
    return table


def _list_sources(assumptions: Assumptions) -> list[str]:
    return [f"{name} = {figure.value:g} {figure.unit}: {figure.source}" for name, figure in assumptions.figures.items()]


if __name__ == "__main__":
    main()
