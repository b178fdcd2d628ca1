"""Plans for policy training: settings common to all plans, and the plan for training with a judge's rewards."""

from abc import abstractmethod
from pathlib import Path
from string import Formatter
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from assayer.models import Frozen

_DEFAULT_PROMPT = (
    "Research question: {question}\n\nPropose one new method that answers it. Describe the method alone.\n"
)

PositiveInt = Annotated[int, Field(ge=1)]


class LoraSettings(Frozen):
    """Low-rank adapters (PEFT), which are trained instead of the whole model."""

    rank: PositiveInt = 128
    alpha: PositiveInt = 256
    dropout: float = Field(default=0.0, ge=0, lt=1)
    targets: str | tuple[str, ...] = "all-linear"


class PolicyModel(Frozen):
    model: str
    """Model folder, or model name on a hub. Code in the model's repository is never run."""
    precision: Literal["float32", "bfloat16"] = "float32"
    lora: LoraSettings | None = None
    """Adapters to train; None trains all weights."""


class QuestionFile(Frozen):
    """JSON Lines file with `question` and `abstract`. Other fields are ignored."""

    file: Path
    prompt: str = _DEFAULT_PROMPT
    """Prompt in which `{question}` is replaced by the question."""
    most: PositiveInt | None = None

    @field_validator("prompt")
    @classmethod
    def _check_prompt(cls, prompt: str) -> str:
        try:
            fields = {field for _, field, _, _ in Formatter().parse(prompt) if field is not None}
        except ValueError as error:
            raise ValueError(f"is not a valid format string: {error}; write a literal brace as two braces") from None
        if fields != {"question"}:
            raise ValueError("must contain {question} and no other name in braces")
        return prompt


class RewardService(Frozen):
    """Service that computes rewards. Its URL defaults to ASSAYER_API_URL; its key is always in ASSAYER_API_KEY."""

    url: str | None = None
    judge: str | None = None
    """Name of a judge composition; None uses the service's default."""
    seconds: float = Field(default=1_800, gt=0)
    """Seconds to wait for one step's rewards."""
    most_steps_unjudged: PositiveInt = 5
    """Number of consecutive steps without a single verdict after which the training stops."""


class GrpoSettings(Frozen):
    """GRPO settings. The defaults are the unbiased form (Dr. GRPO), which normalises neither by completion length nor
    by the standard deviation of the group's rewards."""

    loss: Literal["dr_grpo", "grpo"] = "dr_grpo"
    scale_rewards: Literal["none", "group", "batch"] = "none"
    steps: PositiveInt = 300
    generations: int = Field(default=8, ge=2)
    """Number of completions per question. The mean reward of this group is the baseline."""
    questions: PositiveInt = 4
    """Number of questions per step."""
    micro_batch: PositiveInt | None = None
    """Number of completions that the model processes at once; None means one group."""
    learning_rate: float = Field(default=1e-5, gt=0)
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    warm_up: int = Field(default=0, ge=0)
    """Number of warm-up steps."""
    clip: float = Field(default=0.2, gt=0)
    """Clipping range ε for the probability ratio."""
    divergence_weight: float = Field(default=0.0, ge=0)
    """Weight β of the KL divergence from the initial policy."""
    weight_decay: float = Field(default=0.0, ge=0)
    squares_kept: float = Field(default=0.999, gt=0, lt=1)
    """AdamW's β2: the decay rate of the running mean of squared gradients."""
    longest_gradient: float = Field(default=1.0, gt=0)
    """Maximum norm of the gradient. Larger gradients are clipped."""
    temperature: float = Field(default=1.0, gt=0)
    most_tokens: PositiveInt = 1_024
    """Maximum number of tokens in a completion."""
    seed: int = 0

    @model_validator(mode="after")
    def _check_batch_size(self) -> Self:
        if self.completions % self.batch:
            raise ValueError(
                f"micro_batch = {self.batch} does not divide the {self.completions} completions in a step "
                f"(questions x generations)"
            )
        return self

    @property
    def completions(self) -> int:
        """Return the number of completions per step."""
        return self.questions * self.generations

    @property
    def batch(self) -> int:
        return self.micro_batch or self.generations


class Rollouts(Frozen):
    engine: Literal["transformers", "vllm"] = "transformers"
    """Engine that samples completions. `vllm` shares the GPU with the training and must be installed."""
    memory: float = Field(default=0.3, gt=0, lt=1)
    """Share of GPU memory reserved for vLLM."""


class TrainingMachine(Frozen):
    """Resources requested from Ray."""

    cpus: float = Field(default=1, ge=0)
    gpus: float = Field(default=0, ge=0)
    restarts: int = Field(default=3, ge=0)
    """Maximum number of restarts after a worker dies. Each resumes from the last complete checkpoint."""


class TrainingPlan(Frozen):
    """Settings common to all training plans."""

    title: str = "Policy"
    folder: Path
    """Folder for checkpoints, the learning curve and the trained model."""
    policy: PolicyModel
    grpo: GrpoSettings = GrpoSettings()
    rollouts: Rollouts = Rollouts()
    checkpoint_every: PositiveInt = 25
    """Number of steps between two checkpoints."""
    checkpoints_kept: int = Field(default=2, ge=2)
    """Number of checkpoints to keep. At least two, because the latest is incomplete if the machine fails while writing
    it."""
    machine: TrainingMachine = TrainingMachine()

    @property
    @abstractmethod
    def rewarded_by(self) -> str:
        """Return the source of the rewards, as shown next to the learning curve."""

    def can_resume_from(self, earlier: "TrainingPlan") -> bool:
        """Return whether training can resume from the earlier plan's checkpoints. The plans may differ only in settings
        that do not affect results."""
        ignored_fields = {"title", "folder", "checkpoint_every", "checkpoints_kept", "machine"}
        return self.model_dump(exclude=ignored_fields) == earlier.model_dump(exclude=ignored_fields)

    def from_folder(self, plan_folder: Path) -> Self:
        """Return the plan with relative paths resolved against `plan_folder`."""
        model = plan_folder / self.policy.model
        policy = self.policy.model_copy(update={"model": str(model)}) if model.is_dir() else self.policy
        return self.model_copy(update={"folder": plan_folder / self.folder, "policy": policy})


class PolicyTraining(TrainingPlan):
    """Training of a policy that proposes ideas, with rewards from the service's judge."""

    method: Literal["debate"] = "debate"
    data: QuestionFile
    rewards: RewardService = RewardService()

    @property
    def rewarded_by(self) -> str:
        return self.rewards.judge or "the service's own"

    def from_folder(self, plan_folder: Path) -> Self:
        data = self.data.model_copy(update={"file": plan_folder / self.data.file})
        return super().from_folder(plan_folder).model_copy(update={"data": data})
