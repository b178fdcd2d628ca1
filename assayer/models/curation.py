"""Inputs for curation: sanitised papers, from which research questions are generated, and sanitised questions, for
which candidate ideas are generated."""

from assayer.models.base import Frozen
from assayer_client.curation import PaperKind
from assayer_client.reports import TextFlag

PAPER_KINDS: tuple[PaperKind, ...] = ("new_idea", "survey", "evaluation")


class SourcePaper(Frozen):
    """Imported paper with sanitised title and abstract."""

    id: str
    title: str
    abstract: str
    source: str
    """Human-readable origin of the paper: `papers.jsonl:12`."""
    flags: tuple[TextFlag, ...] = ()


class ResearchQuestion(Frozen):
    """Sanitised question for which candidate ideas are generated."""

    id: str
    text: str
    source: str
    """Human-readable origin of the question: `curated.jsonl:12`."""
    flags: tuple[TextFlag, ...] = ()
