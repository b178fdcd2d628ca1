"""`assayer serve`: the service, until it is told to stop."""

import asyncio
from typing import Annotated

import typer

from cluster.settings import PROFILES, Profile, Settings, load_settings

__all__ = ["serve"]


def serve(
    host: Annotated[str, typer.Option(help="Address to listen at; 0.0.0.0 is every one of this machine.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65_535, help="0 takes a free one.")] = 8765,
    no_ray: Annotated[bool, typer.Option("--no-ray", help="Everything in this process.")] = False,
    profile: Annotated[Profile, typer.Option(help="Named settings.")] = PROFILES[0],
) -> None:
    """Serve evaluations, comparisons and rankings over HTTP."""
    settings = load_settings(profile)
    try:
        asyncio.run(_serve_alone(settings, host, port))
    except asyncio.CancelledError:
        raise typer.Exit(130) from None


async def _serve_alone(settings: Settings, host: str, port: int) -> None:
    from cluster.metrics import serving_metrics
    from cluster.service import first_key, open_service
    from cluster.serving_http import bound, serve_until_told

    with bound(host, port) as listening, serving_metrics(settings.metrics):
        async with open_service(settings) as service:
            if (key := await first_key(service.database)) is not None:
                typer.echo(f"The first tenant is `default`. Its key, which is not shown again: {key}")
            address, taken, *_ = listening.getsockname()
            where = f"[{address}]" if ":" in address else address
            typer.echo(f"assayer listens at http://{where}:{taken}")
            await serve_until_told(
                service.app, listening, service.run, lambda: service.drain(settings.work.drain_seconds)
            )
