"""`assayer shortlist`: from a batch that has finished to an order of its ideas, by the service."""

from typing import TYPE_CHECKING, Annotated

import typer

from cluster.cli.remote import WithProfile, kind_of, remark, service
from cluster.cli.watch import watch_all
from cluster.settings import PROFILES

if TYPE_CHECKING:
    from orchestrator.api.ranking_resources import AcceptedRanking

__all__ = ["shortlist"]


def shortlist(
    batch: Annotated[str, typer.Argument(metavar="ID", help="Of a batch that has finished.")],
    cut: Annotated[
        int | None,
        typer.Option(min=1, help="How many can be taken: tells who is surely in, surely out, or open."),
    ] = None,
    calls_per_idea: Annotated[
        float | None, typer.Option(help="Comparisons asked over ideas ranked; what the service says by default.")
    ] = None,
    earlier: Annotated[
        str | None, typer.Option(metavar="ID", help="A ranking whose comparisons are not asked again.")
    ] = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Watch until it has ended.")] = False,
    profile: WithProfile = PROFILES[0],
) -> None:
    """Rank the ideas of a batch, starting from its reports' scores; prints the id of the ranking."""
    from orchestrator.client import RankingBody

    kind_of(batch, "batch")
    if earlier is not None:
        kind_of(earlier, "ranking")
    asked = RankingBody(batch=batch, cut=cut, calls_per_idea=calls_per_idea, earlier=earlier)
    with service(profile) as client:
        accepted = client.rank(asked)
        _tell(accepted)
        typer.echo(accepted.id)
        if wait and not watch_all(client, [accepted.id]):
            raise typer.Exit(1)


def _tell(accepted: "AcceptedRanking") -> None:
    for one in accepted.left_out:
        remark(f"Left out: row {one.row}, {one.evaluation}: {one.reason}")
    remark(f"{accepted.ideas:,} ideas are compared; {accepted.seeded:,} of them start from their score.")
