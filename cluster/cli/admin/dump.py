"""`assayer admin dump`: dump the embedded database while the service runs."""

import asyncio
import os
import subprocess
from pathlib import Path
from typing import Annotated

import typer

from assayer.errors import InputError, StorageError
from cluster.cli.options import WithJson
from cluster.cli.terminal import Outcome
from cluster.settings_loading import load_settings


def dump(
    file: Annotated[Path, typer.Argument(help="New file to write, in a format that pg_restore reads.")],
    as_json: WithJson = False,
) -> None:
    """Dump the embedded database to a file, even while the service runs. For your own PostgreSQL, use its pg_dump."""
    from cluster.postgres import EmbeddedPostgres
    from cluster.postgres.programs import PostgresPrograms

    settings = load_settings()
    if settings.database.url:
        raise InputError(
            "Only the embedded database can be dumped, but ASSAYER_DATABASE__URL is set.",
            "Use the pg_dump of your server's version.",
        )

    async def dump_database() -> str:
        async with EmbeddedPostgres(settings.home / "postgres") as server:
            return await asyncio.to_thread(_dump, PostgresPrograms.find().folder, await server.ensure(), file)

    try:
        problem = asyncio.run(dump_database())
    except OSError as error:
        raise InputError(f"{file} cannot be written: {error.strerror}.", "Pass the path of a new file.") from error
    if problem:
        file.unlink()
        raise StorageError(f"pg_dump failed: {problem}")
    with Outcome(as_json=as_json) as outcome:
        outcome.add(f"The database is in {file}. Restore it with pg_restore.", file=file, bytes=file.stat().st_size)


def _dump(programs: Path, url: str, file: Path) -> str:
    """Dump the database at the URL to a new file that only its owner can read; return the problem, or an empty
    string."""
    command = (str(programs / "pg_dump"), "--format=custom", "--no-owner", "--no-privileges", url)
    with open(file, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as output:
        completed = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, check=False, text=True)  # noqa: S603 - our own program
    return completed.stderr.strip() if completed.returncode else ""
