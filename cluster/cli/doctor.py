"""`assayer doctor`: what is configured, what answers, what is missing, in plain words."""

import asyncio
import os
import platform
from collections.abc import AsyncIterator, Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from assayer import __version__
from assayer.errors import AssayerError
from cluster.cli.findings import Finding
from cluster.settings import PROFILES, Profile, Settings, load_settings

__all__ = ["doctor"]

_MARKS = {"ok": "[green]ok[/]     ", "absent": "[yellow]absent[/] ", "broken": "[bold red]broken[/] "}


def doctor(profile: Annotated[Profile, typer.Option(help="Named settings.")] = PROFILES[0]) -> None:
    """Tell what is configured, what answers and what is missing."""
    console = Console(highlight=False)
    settings = load_settings(profile)
    if asyncio.run(_show(settings, console)):
        raise typer.Exit(1)


async def _show(settings: Settings, console: Console) -> bool:
    """Prints every finding as it comes; whether anything is broken."""
    broken = False
    async for finding in _examine(settings):
        broken |= finding.state == "broken"
        console.print(f"{_MARKS[finding.state]} [bold]{finding.what}[/]: {escape(finding.text)}", soft_wrap=True)
    return broken


async def _examine(settings: Settings) -> AsyncIterator[Finding]:
    yield Finding("assayer", "ok", f"{__version__}, Python {platform.python_version()}, {os.cpu_count()} cores.")
    yield _home(settings)
    yield await _database(settings)
    yield _corpus(settings)
    yield await _llm(settings)
    yield _webhooks(settings)
    for finding in await _services(settings):
        yield finding


def _home(settings: Settings) -> Finding:
    try:
        settings.home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        text = f"{settings.home} cannot be used: {error.strerror}. Set ASSAYER_HOME to a folder you may write to."
        return Finding("data directory", "broken", text)
    writable = os.access(settings.home, os.W_OK)
    text = f"{settings.home} (ASSAYER_HOME)" + ("." if writable else " may not be written to.")
    return Finding("data directory", "ok" if writable else "broken", text)


async def _database(settings: Settings) -> Finding:
    from cluster.database import open_database

    try:
        async with open_database(settings) as database:
            health = await database.ping()
    except AssayerError as error:
        return Finding("database", "broken", str(error))
    if health.problem:
        return Finding("database", "broken", health.problem)
    return Finding("database", "ok", f"{health.server}, {health.where}.")


def _corpus(settings: Settings) -> Finding:
    from index import Corpus
    from workers.embedding import SentenceTransformerEmbedder

    try:
        corpus = Corpus.open(settings.corpus_path, SentenceTransformerEmbedder(settings.embedder))
    except AssayerError as error:
        return Finding("corpus", "broken" if settings.corpus_path.exists() else "absent", str(error))
    return Finding("corpus", "ok", f"{corpus.version} with {len(corpus)} papers in {settings.corpus_path}.")


async def _llm(settings: Settings) -> Finding:
    from cluster.clock import SystemClock
    from workers.llm.answers import MemoryAnswers
    from workers.llm.gateway import Gateway

    if settings.llm is None:
        text = "none configured; reports are made from extracts. Set ASSAYER_LLM__MODEL (and __BASE_URL, __API_KEY)."
        return Finding("language model", "absent", text)
    async with Gateway(settings.llm, MemoryAnswers(), SystemClock()) as gateway:
        try:
            return Finding("language model", "ok", await gateway.probe())
        except AssayerError as error:
            return Finding("language model", "broken", str(error))


def _webhooks(settings: Settings) -> Finding:
    if settings.webhooks.keys:
        return Finding("webhooks", "ok", "their secrets are sealed under the first of ASSAYER_WEBHOOKS__KEYS.")
    if settings.database.url is None:
        return Finding("webhooks", "ok", "their secrets are sealed under a key of the data directory's own.")
    text = "none can be made: beside a database of your own that takes a key. Set ASSAYER_WEBHOOKS__KEYS."
    return Finding("webhooks", "absent", text)


async def _services(settings: Settings) -> Sequence[Finding]:
    from cluster.cli.services import examine_services

    return await examine_services(settings)
