"""Run `assayer serve` on Ray, on a private cluster or on a running one."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack
from importlib.util import find_spec
from typing import NamedTuple

import typer

from assayer.errors import ConfigurationError
from cluster.cli.terminal import print_remark
from cluster.listening import open_listening_socket
from cluster.settings import Profile, Settings


class RayPlace(NamedTuple):
    """Ray cluster on which the service runs, and the address on which it listens."""

    host: str
    port: int
    address: str | None
    """Address of a running Ray cluster; None starts a private one."""


def serve_on_ray(
    settings: Settings,
    profile: Profile,
    place: RayPlace,
    show_key: Callable[[str | None], None],
    show_address: Callable[[str, int], None],
) -> None:
    """Run the service on Ray until it is stopped. Raises ConfigurationError if Ray is not installed or the service
    cannot start."""
    if find_spec("ray") is None:
        raise ConfigurationError("Ray is not installed.", "Install it with: pip install 'assayer-research[service]'.")
    # The database is kept open by this process; otherwise it would stop together with the pool process that opened it
    # first.
    opened = AsyncExitStack()
    with asyncio.Runner() as runner, ExitStack() as stack:
        port, own_api = place.port, place.address is None and not settings.serving.ingress.wanted
        # In an existing Ray cluster, the proxy of an earlier run may still use the port; it is reused.
        with ExitStack() as probe_stack:
            if place.address is None or port == 0:
                listener = (stack if own_api else probe_stack).enter_context(open_listening_socket(place.host, port))
                port = listener.getsockname()[1]
        from cluster.ray_cluster import (
            enter_private_environment,
            join_existing_cluster,
            share_metrics,
            start_service_cluster,
        )

        folder = stack.enter_context(enter_private_environment()) if place.address is None else None
        if folder is not None and own_api:
            stack.enter_context(share_metrics(folder))
        # Imported only now, because the metrics library chooses its storage when it is imported.
        from cluster.database import open_database
        from cluster.service import create_first_key

        database = runner.run(opened.enter_async_context(open_database(settings)))
        stack.callback(lambda: runner.run(opened.aclose()))
        show_key(runner.run(create_first_key(database)))
        print_remark(
            "Starting Ray, which takes about ten seconds." if folder else f"Joining the Ray cluster at {place.address}."
        )
        from cluster.serving.launcher import ListenAddress, run_until_stopped, run_with_own_api
        from cluster.serving.replica import ReplicaConfig

        config, listening = ReplicaConfig(profile=profile), lambda: show_address(place.host, port)
        try:
            with (
                start_service_cluster(folder, settings.serving)
                if folder
                else join_existing_cluster(place.address or "auto")
            ):
                if own_api:
                    run_with_own_api(config, listener, database, runner, listening, print_remark)
                else:
                    seconds = settings.work.drain_seconds
                    run_until_stopped(config, ListenAddress(place.host, port), seconds, listening, print_remark)
        except (KeyboardInterrupt, asyncio.CancelledError):
            raise typer.Exit(130) from None
