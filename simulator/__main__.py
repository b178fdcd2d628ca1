"""Command `python -m simulator`: serves until SIGINT or SIGTERM."""

import argparse
import asyncio
import types
from collections.abc import Sequence
from typing import Any, get_args, get_origin

from pydantic import ValidationError

from simulator.server import Endpoint
from simulator.serving import add_address_options, serve
from simulator.settings import Settings

_PORT = 8399


def _parse_weights(text: str) -> dict[str, float]:
    """Parse weights such as `fenced=2,empty`; the default weight is 1."""
    pairs = (part.partition("=") for part in text.split(",") if part)
    return {kind: float(weight or 1) for kind, _, weight in pairs}


def _parse_names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="simulator", description="Simulates an OpenAI-compatible endpoint on loopback."
    )
    add_address_options(parser, _PORT)
    for name, info in Settings.model_fields.items():
        flag = "--" + name.replace("_", "-")
        options: dict[str, Any] = {"default": argparse.SUPPRESS, "help": info.description, "dest": name}
        if info.annotation is bool:
            options["action"] = "store_true"
        else:
            options |= {"type": _choose_converter(info.annotation), "metavar": "VALUE"}
        parser.add_argument(flag, **options)
    return parser


def _choose_converter(annotation: Any) -> Any:
    """Return the function that converts a flag's text to a setting's value; pydantic checks the value afterwards."""
    if get_origin(annotation) is dict:
        return _parse_weights
    if get_origin(annotation) is tuple:
        return _parse_names
    kinds = get_args(annotation) if isinstance(annotation, types.UnionType) else (annotation,)
    return next(kind for kind in kinds if kind is not type(None))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = _build_parser()
    arguments_by_name = vars(parser.parse_args(arguments))
    host, port, until_stdin_closes = (
        arguments_by_name.pop("host"),
        arguments_by_name.pop("port"),
        arguments_by_name.pop("until_stdin_closes"),
    )
    try:
        settings = Settings.model_validate(arguments_by_name)
    except ValidationError as error:
        parser.error(str(error))
    asyncio.run(serve(Endpoint(settings).build_application(), host, port, "/v1", until_stdin_closes))


if __name__ == "__main__":
    main()
