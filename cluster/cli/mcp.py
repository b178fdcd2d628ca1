"""`assayer mcp`: offer the service to agents as tools, over the Model Context Protocol."""

import asyncio
from socket import socket
from typing import Annotated

import typer

from assayer.errors import ConfigurationError, InputError
from cluster.cli.options import WithModel, WithProfile
from cluster.listening import open_listening_socket
from cluster.settings import Settings
from cluster.settings_loading import load_settings


def mcp(
    http: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Serve streamable HTTP at this address instead of stdio, for callers who each send their own key; "
            "with only a port, listen on this machine only.",
        ),
    ] = None,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(help="With --http: another host name under which clients reach the server. May be repeated."),
    ] = None,
    local: Annotated[
        bool,
        typer.Option("--local", help="Evaluate in this process and serve over stdio; no service or key is needed."),
    ] = False,
    model: WithModel = None,
    profile: WithProfile = "laptop",
) -> None:
    """Offer tools to agents over the Model Context Protocol (MCP), from a service or from this machine."""
    if local and http is not None:
        raise InputError("--local offers tools over stdio only.", "Omit --http, or run `assayer serve`.")
    if model is not None and not local:
        raise InputError("--model requires --local.", "A running service has its own model.")
    settings = load_settings(profile, model)
    if local:
        asyncio.run(_serve_in_this_process(settings))
        return
    if http is None:
        if allowed_host:
            raise InputError("--allowed-host requires --http.")
        asyncio.run(_serve_over_stdio(settings))
        return
    host, port = parse_host_and_port(http)
    with open_listening_socket(host, port) as listening_socket_:
        asyncio.run(_serve_over_http(settings, host, listening_socket_, allowed_host or []))


def parse_host_and_port(text: str) -> tuple[str, int]:
    """Parse an address such as `127.0.0.1:8766`, `[::1]:8766` or `8766` into host and port. Raises InputError if it is
    malformed."""
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port[:6]) <= 65_535):
        raise InputError(f"{text!r} is not an address.", "Pass --http HOST:PORT, for example 127.0.0.1:8766.")
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port)


async def _serve_over_stdio(settings: Settings) -> None:
    from cluster.mcp.callers import make_opener_with_own_key
    from cluster.mcp.server import create_mcp_server
    from cluster.mcp.waiting import ServerState

    if settings.api_key is None:
        raise ConfigurationError(
            "No API key is set.",
            "Set ASSAYER_API_KEY in the client's configuration (`assayer admin keys create` creates one), or use "
            "--local.",
        )
    service = make_opener_with_own_key(settings.api_url, settings.api_key.get_secret_value())
    await create_mcp_server(service, ServerState()).run_stdio_async()


async def _serve_in_this_process(settings: Settings) -> None:
    from cluster.mcp.local import run_local_service
    from cluster.mcp.server import create_mcp_server
    from cluster.mcp.waiting import ServerState

    async with run_local_service(settings) as service:
        await create_mcp_server(service, ServerState()).run_stdio_async()


async def _serve_over_http(settings: Settings, host: str, listening: socket, allowed_hosts: list[str]) -> None:
    from cluster.http_server import serve_http
    from cluster.mcp.server import PATH, create_http_app
    from cluster.mcp.waiting import ServerState

    state = ServerState()
    app = create_http_app(settings.api_url, host, allowed_hosts, state)

    async def note_stop() -> None:
        state.stopping = True

    address, port, *_ = listening.getsockname()
    async with app.router.lifespan_context(app):
        display_host = f"[{address}]" if ":" in address else address
        typer.echo(f"assayer offers tools over MCP at http://{display_host}:{port}{PATH}")
        await serve_http(app, listening, asyncio.Event().wait, note_stop)
