"""`python -m benchmarks.simulator`: serves until it is told to stop by SIGINT or SIGTERM."""

import argparse
import asyncio
import ipaddress
import signal
import sys
import types
from collections.abc import Sequence
from typing import Any, get_args, get_origin

from aiohttp import web
from pydantic import ValidationError

from benchmarks.simulator.server import Endpoint
from benchmarks.simulator.settings import Settings

_PORT = 8399
_BACKLOG = 4096
"""Connections waiting to be accepted: clients open thousands at once."""


def _loopback(host: str) -> str:
    if host == "localhost":
        return host
    try:
        safe = ipaddress.ip_address(host).is_loopback
    except ValueError:
        safe = False
    if not safe:
        raise argparse.ArgumentTypeError(f"{host!r} is not a loopback address; use 127.0.0.1 or ::1")
    return host


def _mix(text: str) -> dict[str, float]:
    """`fenced=2,empty` as weights."""
    pairs = (part.partition("=") for part in text.split(",") if part)
    return {kind: float(weight or 1) for kind, _, weight in pairs}


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="benchmarks.simulator", description="Simulates an OpenAI-compatible endpoint on loopback."
    )
    parser.add_argument("--host", default="127.0.0.1", type=_loopback, help="loopback only")
    parser.add_argument("--port", default=_PORT, type=int, help=f"0 takes a free one; default {_PORT}")
    parser.add_argument("--until-stdin-closes", action="store_true", help="also stop when the parent goes away")
    for name, info in Settings.model_fields.items():
        flag = "--" + name.replace("_", "-")
        options: dict[str, Any] = {"default": argparse.SUPPRESS, "help": info.description, "dest": name}
        if info.annotation is bool:
            options["action"] = "store_true"
        else:
            options |= {"type": _reader(info.annotation), "metavar": "VALUE"}
        parser.add_argument(flag, **options)
    return parser


def _reader(annotation: Any) -> Any:
    """How the text of a flag becomes what its setting holds; pydantic checks it after that."""
    if get_origin(annotation) is dict:
        return _mix
    if get_origin(annotation) is tuple:
        return _names
    kinds = get_args(annotation) if isinstance(annotation, types.UnionType) else (annotation,)
    return next(kind for kind in kinds if kind is not type(None))


async def _serve(settings: Settings, host: str, port: int, until_stdin_closes: bool) -> None:
    runner = web.AppRunner(
        Endpoint(settings).application(), access_log=None, handler_cancellation=True, keepalive_timeout=75
    )
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
    shown = f"[{address[0]}]" if ":" in address[0] else address[0]
    print(f"listening on http://{shown}:{address[1]}/v1", flush=True)
    await stop.wait()
    await runner.cleanup()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = _parser()
    given = vars(parser.parse_args(arguments))
    host, port, until = given.pop("host"), given.pop("port"), given.pop("until_stdin_closes")
    try:
        settings = Settings.model_validate(given)
    except ValidationError as error:
        parser.error(str(error))
    asyncio.run(_serve(settings, host, port, until))


if __name__ == "__main__":
    main()
