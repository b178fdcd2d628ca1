"""Options for judging rewards by debate. They apply unless a request names another judge."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from pydantic import Field

from assayer.methods.debate.composition import COMPOSITIONS, Composition, get_composition, load_compositions
from assayer.models import Frozen

DEFAULT_COMPOSITION = "two-analysts-evaluator"
"""The composition that the paper selected from its thirteen: precision 1.0 at a recall of 0.30."""


VIEWPOINTS: Final = "viewpoints"


class ViewpointJudge(Frozen):
    """A judge without a language model. Fitted at commit ec3f1495 with `benchmarks/quality/viewpoint_judge.py`."""

    name: Literal["viewpoints"] = VIEWPOINTS
    threshold: float = Field(default=0.701, ge=0, le=1)
    """Minimum nearness that counts as a match: the lowest value at which 97 of 100 matches were correct, on the half of
    the data used for fitting."""
    fitted_for: str = "all-MiniLM-L6-v2"
    """The embedding model for which the threshold was fitted."""


class DebateOptions(Frozen):
    composition: str = DEFAULT_COMPOSITION
    """Name of the composition that judges rewards."""
    compositions: Path | None = None
    """File of additional compositions; an entry with the name of a built-in one replaces it."""
    viewpoints: ViewpointJudge = ViewpointJudge()

    def load_known_compositions(self) -> Mapping[str, Composition]:
        """Return the built-in and additional compositions. Raises InputError if the file is invalid."""
        own_compositions = load_compositions(self.compositions) if self.compositions is not None else {}
        return {**COMPOSITIONS, **own_compositions}

    def get_composition(self, name: str | None = None) -> Composition:
        """Return the composition with this name, or the configured one if no name is passed. Raises InputError if the
        name is unknown."""
        return get_composition(name or self.composition, self.load_known_compositions())
