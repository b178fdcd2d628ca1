"""`assayer serve`: run the service until it is stopped."""

import asyncio
import os
import sys
from functools import partial
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING, Annotated

import typer

from assayer.errors import InputError
from cluster.cli.options import WithProfile
from cluster.cli.serve_on_ray import RayPlace, serve_on_ray
from cluster.cli.terminal import print_remark
from cluster.listening import open_listening_socket
from cluster.settings import Settings
from cluster.settings_loading import load_settings

if TYPE_CHECKING:
    from cluster.service import Service


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all of this machine's addresses.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port to listen on; 0 chooses a free one.")] = 8765,
    ray: Annotated[
        bool | None,
        typer.Option("--ray/--no-ray", help="Run on a private Ray cluster; by default in this process."),
    ] = None,
    address: Annotated[str | None, typer.Option(help="Address of a running Ray cluster to use instead.")] = None,
    profile: WithProfile = "laptop",
) -> None:
    """Serve evaluations, comparisons and rankings over HTTP."""
    if ray is False and address is not None:
        raise InputError("--no-ray and --address cannot be combined.", "Omit one of them.")
    settings = load_settings(profile)
    if ray or address is not None:
        serve_on_ray(settings, profile, RayPlace(host, port, address), partial(_show_key, settings.home), _show_address)
        return
    with open_listening_socket(host, port) as listening:
        try:
            asyncio.run(_serve_alone(settings, listening))
        except asyncio.CancelledError:
            raise typer.Exit(130) from None


def _show_key(home: Path, key: str | None) -> None:
    """Print the first API key if the output is a terminal. Otherwise write it to a file that only the service's user
    can read, because the output may go to a log that others read."""
    if key is None:
        return
    if sys.stdout.isatty():
        typer.echo(f"The first tenant is `default`. Its key, which is not shown again: {key}")
        return
    path = home / "first-key"
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(f"{key}\n")
    typer.echo(f"The first tenant is `default`. Its key is in {path}")


def _show_address(host: str, port: int) -> None:
    typer.echo(f"assayer listens at http://{f'[{host}]' if ':' in host else host}:{port}")


async def _serve_alone(settings: Settings, listening: socket) -> None:
    from cluster.http_server import serve_http
    from cluster.log import configure_log
    from cluster.service import create_first_key, open_service
    from cluster.telemetry import serve_metrics

    configure_log(settings.log)
    with serve_metrics(settings.metrics):
        async with open_service(settings) as service:
            _show_key(settings.home, await create_first_key(service.database))
            address, port, *_ = listening.getsockname()
            _show_address(address, port)
            await serve_http(
                service.app, listening, service.run, lambda: _drain_jobs(service, settings.work.drain_seconds)
            )


async def _drain_jobs(service: "Service", seconds: float) -> None:
    if running_jobs := service.evaluator.in_hand:
        print_remark(
            f"Waiting up to {seconds:g} s for {running_jobs} running "
            f"{'job' if running_jobs == 1 else 'jobs'} to finish; "
            "unfinished jobs return to the queue. Press Ctrl-C again to stop immediately."
        )
    await service.drain(seconds)
