"""What the training of SciCompanion's policy is told: ideas with known scores, a corpus, how the loop is walked."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field

from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.methods.scicompanion.dimensions import venue_dimensions
from assayer.methods.scicompanion.options import SciCompanionOptions
from assayer.methods.scicompanion.trajectory_reward import RewardWeights
from workers.policy_training.configuration import PositiveInt, Rollouts, TrainingPlan
from workers.policy_training.rated_ideas import RatedIdeaFile

__all__ = ["CompanionTraining", "LoopRollouts"]


class LoopRollouts(Rollouts):
    """How the loop is walked while the policy learns."""

    at_once: PositiveInt = 32
    """Contexts that the policy writes after in one batch."""
    most_prompt_tokens: PositiveInt = 12_000
    """A longer prompt is not asked: that rollout has no reward. 12,000 is the paper's."""
    repairs: Annotated[int, Field(ge=0, le=5)] = 1
    """How often an answer that cannot be used is sent back."""
    seconds: float = Field(default=3_600, gt=0)
    """One rollout may take, waiting for the others included; after that it has no reward."""
    most_steps_unrewarded: PositiveInt = 5
    """In a row without a single reward, after which the training stops."""


class CompanionTraining(TrainingPlan):
    method: Literal["scicompanion"]
    data: RatedIdeaFile
    corpus: Path
    """Folder of the corpus in which the loop searches, read with the embedder of the settings."""
    loop: SciCompanionOptions = SciCompanionOptions()
    reward: RewardWeights = RewardWeights()
    rollouts: LoopRollouts = LoopRollouts()

    @property
    def rewarded_by(self) -> str:
        return "known scores, and the structure of the final graph"

    @property
    def dimensions(self) -> tuple[RubricDimension, ...]:
        """Raises InputError where a file of dimensions cannot be used."""
        return venue_dimensions(self.loop.dimensions)

    def calls(self, judged: int) -> int:
        """Of the policy in one rollout, at most, with so many dimensions judged at its end."""
        a_step = 1 if self.loop.asked == "together" else 3
        after_last = 0 if self.loop.asked == "together" else 1  # nobody asks for queries that are not searched
        return 1 + self.loop.steps * a_step - after_last + judged

    def from_folder(self, home: Path) -> Self:
        loop = self.loop
        if isinstance(loop.dimensions, Path):
            loop = loop.model_copy(update={"dimensions": home / loop.dimensions})
        data = self.data.model_copy(update={"file": home / self.data.file})
        there = {"data": data, "corpus": home / self.corpus, "loop": loop}
        return super().from_folder(home).model_copy(update=there)
