"""Judges of rewards."""

from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.problems import HttpProblem


@dataclass(frozen=True)
class RewardJudges:
    """Judges that can be requested for rewards."""

    about: Mapping[str, str]
    """One-line description of each judge, by name."""
    default: str

    def checked(self, name: str | None) -> str:
        """Return the requested judge, or the default. Raises HttpProblem for an unknown name."""
        if name is not None and name not in self.about:
            detail = f"There is no judge {name[:80]!r}. Judges: {', '.join(self.about)}."
            raise HttpProblem.invalid(detail, "/judge")
        return name or self.default
