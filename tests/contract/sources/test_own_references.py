"""An idea's own references, looked for in the simulated sources."""

import datetime as dt
from collections.abc import Callable

from assayer.ideas.parsing import parse_idea
from assayer.llm import NoLlm
from assayer.models import OwnReferences
from assayer.own_references.check import check_own_references
from assayer.own_references.options import OwnReferenceOptions
from assayer.run.run import Run
from simulator.outside.library import Entry
from simulator.outside.process import OutsideWorld
from tests.contract.sources.specimens import LIBRARY
from tests.memory_corpus import MemoryCorpus
from tests.unit.twins import make_run
from workers.embedding.hashing_embedder import HashingEmbedder
from workers.literature.reference_sources import create_reference_sources
from workers.literature.settings import LiteratureSettings
from workers.literature_apis.capabilities import LiteratureSource
from workers.literature_apis.crossref import Crossref
from workers.literature_apis.openalex import OpenAlex
from workers.outbound.source_gateway import SourceGateway
from workers.outbound.source_requests import JournalledFetcher

STANDING = [entry for entry in LIBRARY.entries if entry.doi and not entry.notice and entry.record.year]
RETRACTED = next(entry for entry in LIBRARY.entries if entry.doi and entry.notice and entry.notice.kind == "retracted")
GHOST = "Ada Abara. Sparse curriculum of molecule segmentation for road puzzles. NeurIPS, 2019."


def build_entry_text(entry: Entry, year: int | None = None) -> str:
    return f"{' and '.join(entry.record.authors)}. {entry.record.title}. {year or entry.record.year}."


async def check_references(entries: list[str], gateway: SourceGateway) -> OwnReferences:
    entry_list = "\n".join(f"[{number}] {entry}" for number, entry in enumerate(entries, 1))
    text = f"# An idea\n\n## Problem\n\n{'We test whether it holds. ' * 10}\n\n## References\n\n{entry_list}\n"
    run, corpus, settings = make_run(dt.date(2024, 1, 1)), MemoryCorpus((), HashingEmbedder()), LiteratureSettings()
    makers: dict[str, Callable[[Run], LiteratureSource]] = {
        "openalex": lambda run: OpenAlex(JournalledFetcher(gateway, run.journal, "own_references")),
        "crossref": lambda run: Crossref(JournalledFetcher(gateway, run.journal, "own_references")),
    }
    own = await check_own_references(
        parse_idea(text, "idea.md"),
        create_reference_sources(corpus, makers, settings, run),
        NoLlm(),
        run,
        OwnReferenceOptions(),
    )
    assert isinstance(own, OwnReferences)
    assert {use.operation for use in run.journal.list_source_uses()} == {"own_references"}
    return own


async def test_references_are_classified_as_found_differing_retracted_or_missing(gateway: SourceGateway) -> None:
    first, second, third = STANDING[:3]
    own = await check_references(
        [
            build_entry_text(first),
            f"{build_entry_text(second)} doi:{second.doi}",
            build_entry_text(third, (third.record.year or 0) + 5),
            build_entry_text(RETRACTED),
            GHOST,
        ],
        gateway,
    )
    assert [entry.outcome for entry in own.entries] == ["found", "found", "differs", "retracted", "not_found"]
    assert own.entries[4].sources_answered == ("corpus", "crossref", "openalex")
    assert own.entries[3].retraction is not None


async def test_source_failure_affects_only_its_own_answers(gateway: SourceGateway, world: OutsideWorld) -> None:
    world.configure("crossref", down=True)
    own = await check_references([build_entry_text(STANDING[0]), GHOST, GHOST.replace("road", "rail")], gateway)
    assert [entry.outcome for entry in own.entries] == ["found", "not_found", "not_found"]
    assert own.entries[1].sources_answered == ("corpus", "openalex")
    assert own.entries[1].sources_unanswered == ("crossref",)
