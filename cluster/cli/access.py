"""What the commands of tenants and keys share: the database of the settings, and tables."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from pydantic import BaseModel, ValidationError
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from assayer.errors import InputError
from cluster.settings import Profile, load_settings

if TYPE_CHECKING:
    from orchestrator.store import Database

__all__ = ["WithProfile", "checked", "on_database", "show", "terminal"]

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)

WithProfile = Annotated[Profile, typer.Option("--profile", help="Named settings.")]


def on_database(profile: Profile, work: "Callable[[Database], Awaitable[T]]") -> T:
    from cluster.database import open_database

    settings = load_settings(profile)

    async def run() -> T:
        async with open_database(settings) as database:
            return await work(database)

    return asyncio.run(run())


def checked(kind: type[M], values: Mapping[str, Any]) -> M:
    try:
        return kind(**values)
    except ValidationError as error:
        first = error.errors()[0]
        where = str(first["loc"][0]).replace("_", " ")
        raise InputError(f"The {where} cannot be used: {first['msg']}.", "See --help.") from None


def show(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    terminal().print(table)


def terminal() -> Console:
    return Console(highlight=False, soft_wrap=True)
