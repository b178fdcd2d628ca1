"""`assayer shortlist`: from a batch that has finished to an order of its ideas, by the service."""

from typing import TYPE_CHECKING, Annotated

import typer

from cluster.cli.options import WithBlind, WithProfile
from cluster.cli.service_client import kind_of, service
from cluster.cli.terminal import remark
from cluster.cli.watch import watch_all
from cluster.settings import PROFILES

if TYPE_CHECKING:
    from assayer_client.rankings import AcceptedRanking

__all__ = ["shortlist"]


def shortlist(
    batch: Annotated[str, typer.Argument(metavar="ID", help="Id of a finished batch.")],
    cut: Annotated[
        int | None,
        typer.Option(
            min=1, help="How many ideas can be selected: shows which are surely in, surely out, or undecided."
        ),
    ] = None,
    calls_per_idea: Annotated[
        float | None, typer.Option(help="Comparisons per idea; by default as the service is set.")
    ] = None,
    earlier: Annotated[
        str | None, typer.Option(metavar="ID", help="An earlier ranking whose comparisons are reused.")
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait until it has finished, showing progress.")
    ] = False,
    profile: WithProfile = PROFILES[0],
    blind: WithBlind = None,
) -> None:
    """Rank the ideas of a finished batch, starting from its scores; prints the id of the ranking."""
    from assayer_client import RankingBody

    kind_of(batch, "batch")
    if earlier is not None:
        kind_of(earlier, "ranking")
    asked = RankingBody(batch=batch, cut=cut, calls_per_idea=calls_per_idea, earlier=earlier, blind=blind)
    with service(profile) as client:
        accepted = client.rank(asked)
        _report_accepted(accepted)
        typer.echo(accepted.id)
        if wait and not watch_all(client, [accepted.id]):
            raise typer.Exit(1)


def _report_accepted(accepted: "AcceptedRanking") -> None:
    for one in accepted.left_out:
        remark(f"Left out: row {one.row}, {one.evaluation}: {one.reason}")
    for idea in accepted.unscored:
        remark(f"Without a score to start from: row {idea.row}, {idea.evaluation}: {idea.reason}")
    remark(f"{accepted.ideas:,} ideas will be compared; {accepted.seeded:,} of them start from their score.")
