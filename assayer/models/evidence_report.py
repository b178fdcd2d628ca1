"""Evidence collected for people who judge a plan, without a language model and without any judgement."""

from assayer.models.base import Frozen
from assayer.models.plan_review import ChecklistRow
from assayer_client.points import Citation, Label
from assayer_client.resources import Absent


class NearPassage(Frozen):
    """Paper that resembles a part of the plan, with the two sentences, one from each, that are nearest to each
    other."""

    part: str
    """Heading of the part of the plan, or its first words."""
    plan: str
    """Sentence from the plan."""
    similarity: float
    """Cosine similarity of the two sentences. Similar words are not similar claims."""
    paper: Citation
    """Sentence from the paper."""
    is_cited_by_plan: bool | None
    """True if the plan's own references include the paper; None if the plan lists none that could be checked."""


class OftenCited(Frozen):
    """Work that several of the closest papers cite but the plan does not mention."""

    label: Label
    cited_by: tuple[Citation, ...]
    """Closest papers that cite the work. Each citation refers to the paper as a whole."""


class EvidenceReport(Frozen):
    """Evidence without judgement, in reading order. Every passage is listed once."""

    closest_passages: tuple[NearPassage, ...]
    """Closest papers, each listed once, under the part of the plan that it is nearest to. Within a part, the nearest
    paper comes first."""
    limitations: tuple[Citation, ...]
    """Limitations that these papers state, in their own words."""
    comparisons: tuple[Citation, ...]
    """Comparisons that these papers make, in their own words."""
    often_cited: tuple[OftenCited, ...]
    not_stated: tuple[ChecklistRow, ...] | Absent | None = None
    """Checklist items that the plan does not seem to state; None if the plan was not searched for them."""
