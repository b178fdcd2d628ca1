"""The judges that compute rewards."""

from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.problems import HttpProblem


@dataclass(frozen=True)
class RewardJudges:
    """The judges that can be requested for rewards."""

    descriptions: Mapping[str, str]
    """One-line description of each judge, by name."""
    default: str

    def resolve(self, name: str | None) -> str:
        """Return the name of the requested judge, or of the default. Raises HttpProblem if the name is unknown."""
        if name is not None and name not in self.descriptions:
            detail = f"The judge {name[:80]!r} does not exist. Available judges: {', '.join(self.descriptions)}."
            raise HttpProblem.invalid(detail, "/judge")
        return name or self.default
