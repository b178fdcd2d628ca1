"""Plan for training SciCompanion's policy: ideas with known scores, a corpus, and rollout settings."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field

from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.methods.scicompanion.options import SciCompanionOptions
from assayer.methods.scicompanion.trajectory_reward import RewardWeights
from workers.policy_training.configuration import PositiveInt, Rollouts, TrainingPlan
from workers.policy_training.rated_ideas import RatedIdeaFile


class LoopRollouts(Rollouts):
    """Settings for running the loop during training."""

    at_once: PositiveInt = 32
    """Maximum number of contexts for which the policy generates in one batch."""
    most_prompt_tokens: PositiveInt = 12_000
    """Maximum number of tokens in a prompt. A rollout with a longer prompt ends without a reward. The paper uses
    12,000."""
    repairs: Annotated[int, Field(ge=0, le=5)] = 1
    """Maximum number of times an unusable answer is sent back."""
    seconds: float = Field(default=3_600, gt=0)
    """Maximum seconds for one rollout, including waiting for other rollouts. A longer rollout ends without a reward."""
    most_steps_unrewarded: PositiveInt = 5
    """Number of consecutive steps without a single reward after which the training stops."""


class CompanionTraining(TrainingPlan):
    method: Literal["scicompanion"]
    data: RatedIdeaFile
    corpus: Path
    """Folder of the corpus that the loop searches, which is read with the embedder in the settings."""
    loop: SciCompanionOptions = SciCompanionOptions()
    reward: RewardWeights = RewardWeights()
    rollouts: LoopRollouts = LoopRollouts()

    @property
    def rewarded_by(self) -> str:
        return "known scores, and the structure of the final graph"

    @property
    def dimensions(self) -> tuple[RubricDimension, ...]:
        """Return the loop's dimensions. Raises InputError if a dimensions file is unusable."""
        return self.loop.load_rubric()

    def compute_max_calls(self, judged: int) -> int:
        """Return the maximum number of policy calls in one rollout, if `judged` dimensions are judged at its end."""
        step_calls = 1 if self.loop.asked == "together" else 3
        skipped_calls = 0 if self.loop.asked == "together" else 1  # the last step asks for no further queries
        return 1 + self.loop.steps * step_calls - skipped_calls + judged

    def from_folder(self, folder: Path) -> Self:
        loop = self.loop
        if isinstance(loop.dimensions, Path):
            loop = loop.model_copy(update={"dimensions": folder / loop.dimensions})
        data = self.data.model_copy(update={"file": folder / self.data.file})
        resolved = {"data": data, "corpus": folder / self.corpus, "loop": loop}
        return super().from_folder(folder).model_copy(update=resolved)
