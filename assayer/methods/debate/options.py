"""Which debate gives rewards, unless a request names another judge."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from pydantic import Field

from assayer.methods.debate.composition import COMPOSITIONS, Composition, composition, load_compositions
from assayer.models import Frozen

__all__ = ["DEFAULT_COMPOSITION", "VIEWPOINTS", "DebateOptions", "ViewpointJudge"]

DEFAULT_COMPOSITION = "two-analysts-evaluator"
"""The paper's choice among its thirteen: precision 1.0 at a recall of 0.30."""


VIEWPOINTS: Final = "viewpoints"


class ViewpointJudge(Frozen):
    """The judge without a language model. Fitted by `python -m benchmarks.quality.viewpoint_judge`."""

    name: Literal["viewpoints"] = VIEWPOINTS
    threshold: float = Field(default=0.701, ge=0, le=1)
    """Nearness of a match. The lowest at which 97 of 100 matches of the fitted half were right."""
    fitted_for: str = "all-MiniLM-L6-v2"
    """The embedding model."""


class DebateOptions(Frozen):
    composition: str = DEFAULT_COMPOSITION
    compositions: Path | None = None
    """A file of one's own, beside the thirteen; an entry of the same name takes the place of theirs."""
    rounds: int | None = Field(default=None, ge=1, le=5)
    """At most, in every debate; None: what the composition says."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    """Of roles with several seats; None: what the composition says."""

    viewpoints: ViewpointJudge = ViewpointJudge()

    def known_compositions(self) -> Mapping[str, Composition]:
        """Raises InputError for a file that cannot be used."""
        own = load_compositions(self.compositions) if self.compositions is not None else {}
        return {**COMPOSITIONS, **own}

    def composition_called(self, name: str | None = None) -> Composition:
        """The settings' own where no name is given. Raises InputError for an unknown one."""
        chosen = composition(name or self.composition, self.known_compositions())
        changes = {"rounds": self.rounds, "temperature": self.temperature}
        return chosen.model_copy(update={field: value for field, value in changes.items() if value is not None})
