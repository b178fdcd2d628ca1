"""`assayer corpus search`: find papers and passages that match a query and its filters."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from assayer.errors import InputError
from assayer.models import Filters, Hit, Paper, PaperId, Passage, Window
from assayer.text.names import normalise_name
from cluster.cli.options import WithJson, parse_day_option
from cluster.cli.terminal import print_json, print_markup
from cluster.settings import Settings
from cluster.settings_loading import load_settings

if TYPE_CHECKING:
    from index import Corpus


def search(
    query: Annotated[str, typer.Argument(help="What to search for.")],
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of papers, and of passages.")] = 10,
    before: Annotated[str | None, typer.Option(help="YYYY-MM-DD: only papers published on or before that day.")] = None,
    after: Annotated[str | None, typer.Option(help="YYYY-MM-DD: only papers published on or after that day.")] = None,
    venue: Annotated[list[str] | None, typer.Option(help="Only papers from this venue; repeat for several.")] = None,
    field: Annotated[list[str] | None, typer.Option(help="Only papers in this field; repeat for several.")] = None,
    retracted: Annotated[
        bool | None,
        typer.Option("--retracted/--not-retracted", help="Only papers that have been, or have not been, retracted."),
    ] = None,
    without: Annotated[list[str] | None, typer.Option(help="Id of a paper to exclude; repeat for several.")] = None,
    snippets: Annotated[bool, typer.Option("--snippets", help="Also show the best-matching passages.")] = False,
    naming: Annotated[
        bool, typer.Option("--naming", help="Only papers that name the query as a method or concept, newest first.")
    ] = False,
    as_json: WithJson = False,
) -> None:
    """Search titles and abstracts by meaning and by words."""
    filters = Filters(
        window=Window(
            after=parse_day_option(after, "date for --after"), before=parse_day_option(before, "date for --before")
        ),
        venues=frozenset(venue or ()),
        fields=frozenset(field or ()),
        retracted=retracted,
        without=frozenset(map(PaperId, without or ())),
    )
    first_day, last_day = filters.window.after, filters.window.before
    if first_day and last_day and first_day > last_day:
        raise InputError(f"--after {first_day} is later than --before {last_day}.")
    if naming and snippets:
        raise InputError("--snippets and --naming cannot be combined.", "Omit one of them.")
    if naming and not normalise_name(query):
        raise InputError(f"{query!r} is not a name: it contains no letter or digit.")
    if naming:
        naming_papers = asyncio.run(_find_naming_papers(query, limit, filters, load_settings()))
        if as_json:
            print_json({"papers": naming_papers})
        else:
            _show_papers(naming_papers)
        return
    hits, passages = asyncio.run(_search(query, limit, filters, snippets, load_settings()))
    if as_json:
        print_json({"papers": hits, "passages": passages})
        return
    _show_hits(hits)
    _show_passages(passages)


def _show_hits(hits: Sequence[Hit]) -> None:
    if not hits:
        print_markup("Nothing found.")
    for rank, hit in enumerate(hits, start=1):
        _show_paper(rank, hit.paper, f"cosine {hit.similarity:.2f}  ")


def _show_papers(papers: Sequence[Paper]) -> None:
    if not papers:
        print_markup("No paper in the corpus graph mentions the query.")
    for rank, paper in enumerate(papers, start=1):
        _show_paper(rank, paper, "")


def _show_paper(rank: int, paper: Paper, words: str) -> None:
    date_text = paper.publication_date.isoformat() if paper.publication_date else "no date"
    print_markup(f"[bold]{rank:>3}. {escape(paper.title)}[/] ({date_text})")
    print_markup(f"     {words}{escape(paper.venue)}  {escape(paper.id)}")


def _show_passages(passages: Sequence[Passage]) -> None:
    for rank, passage in enumerate(passages, start=1):
        location = f"{escape(passage.paper.title)}, {escape(passage.section)}"
        print_markup(f"[bold]{rank:>3}.[/] [italic]{location}[/]  cosine {passage.similarity:.2f}")
        print_markup(f"     {escape(' '.join(passage.text.split()))}")


async def _find_naming_papers(name: str, limit: int, filters: Filters, settings: Settings) -> list[Paper]:
    return await _open_corpus(settings).find_papers_naming(name, limit, filters)


async def _search(
    query: str, limit: int, filters: Filters, snippets: bool, settings: Settings
) -> tuple[list[Hit], list[Passage]]:
    corpus = _open_corpus(settings)
    (hits,) = await corpus.find([query], limit, filters)
    (passages,) = await corpus.find_passages([query], limit, filters) if snippets else ([],)
    return hits, passages


def _open_corpus(settings: Settings) -> "Corpus":
    from cluster.corpus_source import open_corpus
    from workers.embedding.embedder import create_local_embedder

    return open_corpus(settings, create_local_embedder(settings.embedder))
