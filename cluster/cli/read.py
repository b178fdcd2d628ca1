"""`assayer read`: show the content extracted from documents, without evaluating it."""

import asyncio
from typing import Annotated

import typer
from rich.markup import escape

from assayer.models import Idea
from cluster.cli.idea_inputs import read_idea_inputs
from cluster.cli.options import IdeaPaths, WithJson, WithProfile
from cluster.cli.terminal import print_error, print_json, print_markup
from cluster.settings_loading import load_settings


def read(
    paths: IdeaPaths,
    text: Annotated[bool, typer.Option("--text", help="Also print the text that would be judged.")] = False,
    profile: WithProfile = "laptop",
    as_json: WithJson = False,
) -> None:
    """Show what is extracted from documents, without evaluating them."""
    read_ideas_ = asyncio.run(read_idea_inputs(paths, load_settings(profile)))
    if as_json:
        print_json([_collect_fields(idea) for idea in read_ideas_.ideas])
    for idea in read_ideas_.ideas if not as_json else ():
        _show(idea, text=text)
    for rejection in read_ideas_.rejected:
        print_error("Not read:", f"{rejection.source}: {rejection.message}")
    if read_ideas_.rejected:
        raise typer.Exit(1 if read_ideas_.ideas else 2)


def _collect_fields(idea: Idea) -> dict[str, object]:
    reading = idea.reading.model_dump(mode="json") if idea.reading else {}
    entries = [work.model_dump(mode="json") for work in idea.references]
    flags = [flag.model_dump(mode="json") for flag in idea.flags]
    return {"source": idea.source, **reading, "entries": entries, "flags": flags, "text": idea.text}


def _show(idea: Idea, *, text: bool) -> None:
    from assayer.models import suspicious_kinds
    from assayer.reports.reading_wording import list_reading_facts
    from assayer.reports.wording import FLAGS

    print_markup(f"[bold]{escape(idea.source)}[/]")
    for name, value in list_reading_facts(idea.reading, idea.flags) if idea.reading else ():
        print_markup(f"  {escape(name)}: {escape(value)}")
    shown = suspicious_kinds(idea.flags)
    for flag in (flag for flag in idea.flags if flag.kind in shown):
        print_markup(f"  {FLAGS[flag.kind]}: {escape(flag.excerpt)}")
    for number, work in enumerate(idea.references, start=1):
        print_markup(f"    {number}. {escape(work.raw or work.title)}")
    if text:
        print_markup(f"\n{escape(idea.text)}\n")
