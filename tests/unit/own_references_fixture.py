"""An idea with references of its own, records they match, and their check in memory."""

import datetime as dt
from collections.abc import Sequence

from pydantic import BaseModel

from assayer.claim_support.task import SupportAnswer, SupportQuestion, SupportVerdict
from assayer.ideas.parsing import parse_idea
from assayer.llm import Llm, NoLlm
from assayer.models import Idea, OwnReferences, Paper, PaperId
from assayer.own_references.check import check_own_references
from assayer.own_references.options import OwnReferenceOptions
from tests.in_memory import InMemorySource
from tests.memory_corpus import MemoryCorpus
from tests.unit.twins import make_run
from workers.embedding.hashing_embedder import HashingEmbedder
from workers.literature.reference_sources import create_reference_sources
from workers.literature.settings import LiteratureSettings

SETTINGS = LiteratureSettings()


REFERENCE_LIST = """[1] Ann Lee and Bo Chen. Replay buffers for continual text classification. In Text Methods, 2019.
[2] Cy Diaz. Forgetting curves of small language models. Journal of Forgetting, 2021.
[3] Eve Fox et al. Which examples does a model forget first? In Text Methods, 2022."""


IDEA = f"""# Rehearsal that knows what will be forgotten

## Problem

Rehearsal recovers most of the accuracy that fine-tuning loses [1]. Small models forget along a power law [2, 3]. We
will test whether forgetting can be foreseen from the loss, as nobody has done for small language models so far.

## References

{REFERENCE_LIST}

## Budget

Two years of one person and a small computer.
"""


def record(key: str, title: str, author: str, year: int, source: str = "corpus", **fields: object) -> Paper:
    defaults = {"abstract": title, "authors": (author,), "publication_date": dt.date(year, 6, 30), "source": source}
    return Paper.model_validate({"id": PaperId(key), "title": title, **defaults, **fields})


LEE = record("lee", "Replay Buffers for Continual Text Classification", "Ann Lee", 2019, authors=("Ann Lee", "Bo Chen"))


DIAZ = record("diaz", "Forgetting curves of small language models", "Cy Diaz", 2021)


FOX = record("fox", "Which Examples Does a Model Forget First?", "Eve Fox", 2022)


def make_idea(text: str = IDEA) -> Idea:
    return parse_idea(text, "idea.md")


async def check_references(
    text: str | Idea = IDEA,
    local_papers: Sequence[Paper] = (),
    sources: Sequence[InMemorySource] = (),
    cutoff: dt.date | None = None,
    settings: LiteratureSettings = SETTINGS,
    llm: Llm | None = None,
    **options: object,
) -> OwnReferences:
    run, corpus = make_run(cutoff), MemoryCorpus(local_papers, HashingEmbedder())
    makers = {source.name: (lambda run, source=source: source) for source in sources}
    references = await check_own_references(
        text if isinstance(text, Idea) else make_idea(text),
        create_reference_sources(corpus, makers, settings, run),
        llm or NoLlm(),
        run,
        OwnReferenceOptions.model_validate(options),
    )
    assert isinstance(references, OwnReferences)
    return references


def list_outcomes(references: OwnReferences) -> list[str]:
    return [entry.outcome if isinstance(entry.outcome, str) else "absent" for entry in references.entries]


def answer_partly_supported(question: BaseModel) -> BaseModel:
    assert isinstance(question, SupportQuestion)
    verdicts = [
        SupportVerdict(label=item.label, carried=item.passage, missing="Says nothing of accuracy.", outcome="partly")
        for item in question.items
    ]
    return SupportAnswer(verdicts=verdicts)
