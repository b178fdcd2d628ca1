"""What `assayer policy train` reads: one TOML file a training."""

import tomllib
from pathlib import Path
from string import Formatter
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from assayer.errors import InputError
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
    "read_policy_training",
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


class PolicyTraining(Frozen):
    title: str = "Policy"
    folder: Path
    """For checkpoints, the learning curve and the trained model."""
    policy: PolicyModel
    data: QuestionFile
    rewards: RewardService = RewardService()
    grpo: GrpoSettings = GrpoSettings()
    rollouts: Rollouts = Rollouts()
    checkpoint_every: PositiveInt = 25
    """Steps."""
    checkpoints_kept: int = Field(default=2, ge=2)
    """Two at least: one may be half written when the machine fails."""
    machine: TrainingMachine = TrainingMachine()

    def goes_on_from(self, earlier: "PolicyTraining") -> bool:
        """Whether checkpoints of that one may be gone on from: only what changes no figure differs."""
        free = {"title", "folder", "checkpoint_every", "checkpoints_kept", "machine"}
        return self.model_dump(exclude=free) == earlier.model_dump(exclude=free)


def read_policy_training(path: Path) -> PolicyTraining:
    """Paths are taken from the file's own folder. Raises InputError that names every field at fault."""
    try:
        given = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path} cannot be read as TOML: {error}.") from None
    try:
        read = PolicyTraining.model_validate(given)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, one['loc'])) or 'the file'}: {one['msg']}" for one in error.errors(include_url=False)
        )
        raise InputError(
            f"{path} cannot be used: {faults}.", "docs/operations/policy-training.md has every field."
        ) from None
    home = path.absolute().parent
    model = home / read.policy.model
    return read.model_copy(
        update={
            "folder": home / read.folder,
            "data": read.data.model_copy(update={"file": home / read.data.file}),
            "policy": read.policy.model_copy(update={"model": str(model)}) if model.is_dir() else read.policy,
        }
    )
