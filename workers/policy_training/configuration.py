"""What every training of a policy is told, and what one with rewards of the judge is told besides."""

from abc import abstractmethod
from pathlib import Path
from string import Formatter
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from assayer.models import Frozen

__all__ = [
    "GrpoSettings",
    "LoraSettings",
    "PolicyModel",
    "PolicyTraining",
    "QuestionFile",
    "RewardService",
    "Rollouts",
    "TrainingMachine",
    "TrainingPlan",
]

_DEFAULT_PROMPT = (
    "Research question: {question}\n\nPropose one new method that answers it. Describe the method alone.\n"
)

PositiveInt = Annotated[int, Field(ge=1)]


class LoraSettings(Frozen):
    """Low-rank adapters (PEFT): what is trained in place of the whole model."""

    rank: PositiveInt = 128
    alpha: PositiveInt = 256
    dropout: float = Field(default=0.0, ge=0, lt=1)
    targets: str | tuple[str, ...] = "all-linear"


class PolicyModel(Frozen):
    model: str
    """A folder, or a name on a model hub; nothing of it is run as code."""
    precision: Literal["float32", "bfloat16"] = "float32"
    lora: LoraSettings | None = None
    """None: all weights are trained."""


class QuestionFile(Frozen):
    """JSON lines with `question` and `abstract`; other fields are passed over."""

    file: Path
    prompt: str = _DEFAULT_PROMPT
    """With `{question}` where the question stands."""
    most: PositiveInt | None = None

    @field_validator("prompt")
    @classmethod
    def _names_the_question(cls, prompt: str) -> str:
        try:
            fields = {field for _, field, _, _ in Formatter().parse(prompt) if field is not None}
        except ValueError as error:
            raise ValueError(f"cannot be read: {error}; a brace of its own is written twice") from None
        if fields != {"question"}:
            raise ValueError("needs {question}, once or more, and no other name in braces")
        return prompt


class RewardService(Frozen):
    """The address is ASSAYER_API_URL's unless given; the key is always ASSAYER_API_KEY's."""

    url: str | None = None
    judge: str | None = None
    """Name of a composition; None: the service's own."""
    seconds: float = Field(default=1_800, gt=0)
    """How long the rewards of one step are waited for."""
    most_steps_unjudged: PositiveInt = 5
    """Steps in a row without a single verdict, after which the training stops."""


class GrpoSettings(Frozen):
    """Defaults: the unbiased form (Dr. GRPO), whose loss is divided neither by a completion's length nor by its group's
    spread of rewards."""

    loss: Literal["dr_grpo", "grpo"] = "dr_grpo"
    scale_rewards: Literal["none", "group", "batch"] = "none"
    steps: PositiveInt = 300
    generations: int = Field(default=8, ge=2)
    """Of each question: the group whose mean is the baseline."""
    questions: PositiveInt = 4
    """A step."""
    micro_batch: PositiveInt | None = None
    """Completions that go through the model at once; None: one group."""
    learning_rate: float = Field(default=1e-5, gt=0)
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    warm_up: int = Field(default=0, ge=0)
    """Steps."""
    clip: float = Field(default=0.2, gt=0)
    """ε of the ratio of probabilities."""
    divergence_weight: float = Field(default=0.0, ge=0)
    """β of the KL divergence from the first policy."""
    weight_decay: float = Field(default=0.0, ge=0)
    squares_kept: float = Field(default=0.999, gt=0, lt=1)
    """β2 of AdamW: how much of its mean of squared gradients each step keeps."""
    longest_gradient: float = Field(default=1.0, gt=0)
    """Norm to which a step's gradient is cut."""
    temperature: float = Field(default=1.0, gt=0)
    most_tokens: PositiveInt = 1_024
    """Of a completion."""
    seed: int = 0

    @model_validator(mode="after")
    def _whole_batches(self) -> Self:
        if self.completions % self.batch:
            raise ValueError(
                f"micro_batch = {self.batch} does not divide the {self.completions} completions of a step "
                f"(questions x generations)"
            )
        return self

    @property
    def completions(self) -> int:
        """Of a step."""
        return self.questions * self.generations

    @property
    def batch(self) -> int:
        return self.micro_batch or self.generations


class Rollouts(Frozen):
    engine: Literal["transformers", "vllm"] = "transformers"
    """`vllm` shares the GPU with the training and needs vllm installed."""
    memory: float = Field(default=0.3, gt=0, lt=1)
    """Share of the GPU's memory for vLLM."""


class TrainingMachine(Frozen):
    """What Ray is asked for."""

    cpus: float = Field(default=1, ge=0)
    gpus: float = Field(default=0, ge=0)
    restarts: int = Field(default=3, ge=0)
    """After a worker's death; each goes on from the last whole checkpoint."""


class TrainingPlan(Frozen):
    """What every training has."""

    title: str = "Policy"
    folder: Path
    """For checkpoints, the learning curve and the trained model."""
    policy: PolicyModel
    grpo: GrpoSettings = GrpoSettings()
    rollouts: Rollouts = Rollouts()
    checkpoint_every: PositiveInt = 25
    """Steps."""
    checkpoints_kept: int = Field(default=2, ge=2)
    """Two at least: one may be half written when the machine fails."""
    machine: TrainingMachine = TrainingMachine()

    @property
    @abstractmethod
    def rewarded_by(self) -> str:
        """Who judges, as a learning curve says it."""

    def goes_on_from(self, earlier: "TrainingPlan") -> bool:
        """Whether checkpoints of that one may be gone on from: only what changes no figure differs."""
        free = {"title", "folder", "checkpoint_every", "checkpoints_kept", "machine"}
        return self.model_dump(exclude=free) == earlier.model_dump(exclude=free)

    def from_folder(self, home: Path) -> Self:
        """With paths taken from there."""
        model = home / self.policy.model
        policy = self.policy.model_copy(update={"model": str(model)}) if model.is_dir() else self.policy
        return self.model_copy(update={"folder": home / self.folder, "policy": policy})


class PolicyTraining(TrainingPlan):
    """Of a policy that proposes ideas, with rewards of the service's judge."""

    method: Literal["debate"] = "debate"
    data: QuestionFile
    rewards: RewardService = RewardService()

    @property
    def rewarded_by(self) -> str:
        return self.rewards.judge or "the service's own"

    def from_folder(self, home: Path) -> Self:
        data = self.data.model_copy(update={"file": home / self.data.file})
        return super().from_folder(home).model_copy(update={"data": data})
