"""Sanitised papers and research questions, from which questions and candidate ideas are generated."""

from assayer.models.base import Frozen
from assayer_client.curation import PaperKind
from assayer_client.reports import TextFlag

PAPER_KINDS: tuple[PaperKind, ...] = ("new_idea", "survey", "evaluation")


class SourcePaper(Frozen):
    """Imported paper: sanitised title and abstract."""

    id: str
    title: str
    abstract: str
    source: str
    """Human-readable origin of the paper: `papers.jsonl:12`."""
    flags: tuple[TextFlag, ...] = ()


class ResearchQuestion(Frozen):
    """Sanitised question for which candidates are proposed."""

    id: str
    text: str
    source: str
    """Human-readable origin of the question: `curated.jsonl:12`."""
    flags: tuple[TextFlag, ...] = ()
