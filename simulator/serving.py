"""Command line and server shared by all simulators: they listen on loopback only, print their address and stop
cleanly."""

import argparse
import asyncio
import ipaddress
import signal
import sys

from aiohttp import web

_BACKLOG = 4096
"""Maximum number of connections waiting to be accepted, because clients open thousands at once."""


def check_loopback(host: str) -> str:
    """Check the value of `--host`. Raises argparse.ArgumentTypeError unless it is a loopback address."""
    if host == "localhost":
        return host
    try:
        is_loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_loopback = False
    if not is_loopback:
        raise argparse.ArgumentTypeError(f"{host!r} is not a loopback address; use 127.0.0.1 or ::1")
    return host


def add_address_options(parser: argparse.ArgumentParser, port: int) -> None:
    parser.add_argument("--host", default="127.0.0.1", type=check_loopback, help="loopback address to listen on")
    parser.add_argument("--port", default=port, type=int, help=f"port; 0 selects a free one (default: {port})")
    parser.add_argument("--until-stdin-closes", action="store_true", help="also stop when the parent process ends")


async def serve(application: web.Application, host: str, port: int, path: str, until_stdin_closes: bool) -> None:
    """Serve until SIGINT or SIGTERM, after printing `listening on` and the URL, which ends in `path`."""
    runner = web.AppRunner(application, access_log=None, handler_cancellation=True, keepalive_timeout=75)
    await runner.setup()
    site = web.TCPSite(runner, host, port, backlog=_BACKLOG, shutdown_timeout=0.2)
    await site.start()
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    if until_stdin_closes:
        loop.add_reader(sys.stdin, stop.set)
    address = runner.addresses[0]
    printed_host = f"[{address[0]}]" if ":" in address[0] else address[0]
    print(f"listening on http://{printed_host}:{address[1]}{path}", flush=True)
    await stop.wait()
    await runner.cleanup()
