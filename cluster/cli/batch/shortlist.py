"""`assayer batch shortlist`: have the service rank the ideas in a finished batch."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from cluster.cli.batch.service_client import identify_kind, open_service_client
from cluster.cli.batch.watch import watch_all
from cluster.cli.options import WithBlind, WithJson
from cluster.cli.terminal import print_json, print_remark

if TYPE_CHECKING:
    from assayer_client.rankings import AcceptedRanking, Band, Ranking

_BAND_WORDS: "dict[Band, str]" = {"in": "clearly in", "human": "for people to decide", "out": "clearly out"}
_MAX_NAMED_EXCLUSIONS = 20
"""Maximum number of proposals printed one by one."""


def shortlist(
    batch: Annotated[str, typer.Argument(metavar="ID", help="Id of a finished batch.")],
    shortlist_size: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of ideas to select; shows which are certainly in, certainly out, or undecided."
        ),
    ] = None,
    comparisons_per_idea: Annotated[
        float | None, typer.Option(help="Comparisons per idea; by default the service's setting.")
    ] = None,
    previous_ranking: Annotated[
        str | None, typer.Option(metavar="ID", help="Earlier ranking whose comparisons are reused.")
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait until the ranking has finished, showing progress.")
    ] = False,
    blind: WithBlind = None,
    as_json: WithJson = False,
) -> None:
    """Rank the ideas in a finished batch, starting from its scores, and print the ranking's id."""
    from assayer_client import RankingBody

    identify_kind(batch, "batch")
    if previous_ranking is not None:
        identify_kind(previous_ranking, "ranking")
    with open_service_client() as client:
        body = RankingBody(
            batch=batch,
            shortlist_size=shortlist_size,
            comparisons_per_idea=comparisons_per_idea,
            previous_ranking=previous_ranking,
            blind=blind,
        )
        accepted = client.rankings.create(body)
        _report_accepted(accepted)
        if as_json:
            print_json(accepted)
        else:
            typer.echo(accepted.id)
        if not wait:
            return
        if not watch_all(client, [accepted.id]):
            raise typer.Exit(1)
        _report_bands(accepted.id, client.rankings.report(accepted.id))


def _report_accepted(accepted: "AcceptedRanking") -> None:
    for exclusion in accepted.excluded_evaluations[:_MAX_NAMED_EXCLUSIONS]:
        print_remark(
            f"Not ranked: {exclusion.source or exclusion.evaluation} (row {exclusion.row}): {exclusion.reason}"
        )
    if len(accepted.excluded_evaluations) > _MAX_NAMED_EXCLUSIONS:
        print_remark(f"Further ideas not ranked: {len(accepted.excluded_evaluations) - _MAX_NAMED_EXCLUSIONS:,}.")
    print_remark(
        f"{accepted.ideas:,} ideas will be compared; {accepted.ideas_with_score:,} of them start from their score."
    )
    if accepted.unscored_ideas:
        print_remark(f"{len(accepted.unscored_ideas):,} have no score, and start from the middle of the scale.")


def _report_bands(job: str, ranking: "Ranking") -> None:
    """Print how reliable the order is, in one line."""
    counts = Counter(idea.band for idea in ranking.ideas if idea.band is not None)
    bands = ", ".join(f"{counts[band]:,} {words}" for band, words in _BAND_WORDS.items())
    if counts:
        print_remark(f"Of {len(ranking.ideas):,}: {bands}. The whole ranking: `assayer batch fetch {job}`.")
