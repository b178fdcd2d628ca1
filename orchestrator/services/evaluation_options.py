"""Evaluation options: the values that requests can specify, and the defaults for those that they omit."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from assayer.methods.innoeval.options import METHOD as INNOEVAL
from assayer.methods.scicompanion.options import SciCompanionOptions
from assayer.models import BlindDefault, is_judged_blind
from assayer.models.llm import GpuSpeed
from assayer.ranking.known_comparisons import Judging
from orchestrator.jobs.estimates import TypicalEvaluation
from orchestrator.jobs.models import Priority
from orchestrator.problems import HttpProblem, suggest_known_name


class BoardProblem(NamedTuple):
    field: Literal["board", "board_models"]
    detail: str


@dataclass(frozen=True)
class EvaluationOptions:
    """The evaluation options that this service offers according to its settings."""

    methods: Mapping[str, str]
    """One-line description of each method, by name."""
    personas: int
    """Number of personas available for InnoEval's boards, which limits a board's size."""
    unavailable: Mapping[str, str] = field(default_factory=dict)
    """Why a method cannot run here, by the method's name; methods that can run are omitted."""
    blind: BlindDefault = "several"
    """Which ideas are masked before evaluation if the request does not state this."""
    overnight: bool = False
    """True if jobs can use the language model provider's batch API."""
    judging: Judging = field(default_factory=lambda: Judging(None))
    """Judging options that apply to all rankings in this service."""
    scicompanion: SciCompanionOptions = field(default_factory=SciCompanionOptions)
    """Default options for the search for missed references."""
    unpriced_models: tuple[str, ...] = ()
    """Language models without a known price, for which limits in US dollars cannot be enforced."""
    methods_without_llm: frozenset[str] = frozenset()
    """Methods that never use a language model."""
    board_models: tuple[str, ...] = ()
    """Models that requests can specify for InnoEval's boards."""
    typical_evaluations: Mapping[str, TypicalEvaluation] = field(default_factory=dict)
    """Typical cost and duration of an evaluation by method, used if a tenant has too few evaluations of its own;
    unmeasured methods are omitted."""
    gpu_speeds: Mapping[str, GpuSpeed] = field(default_factory=dict)
    """Measured speeds of one GPU by language model, for estimates."""
    get_typical_board: Callable[[int | None, Sequence[str]], TypicalEvaluation] | None = None
    """Returns InnoEval's typical cost and duration for a board size and models; None if they have not been measured."""

    @property
    def available_methods(self) -> dict[str, str]:
        """One-line description of each method that can run here, by name."""
        return {name: description for name, description in self.methods.items() if name not in self.unavailable}

    def find_method_problem(self, method: str) -> str | None:
        """Return a sentence that states why a method cannot be used here; None if it can."""
        if method not in self.methods:
            return f"The method {method!r} does not exist.{suggest_known_name(method, sorted(self.available_methods))}"
        if reason := self.unavailable.get(method):
            available = ", ".join(sorted(self.available_methods)) or "none"
            return f"The method {method} cannot run on this service: {reason} Available: {available}."
        return None

    def find_board_problem(self, board: int | None, models: Sequence[str], method: str) -> BoardProblem | None:
        """Return why a board cannot have this size or use these models. None if it can, or if no board was
        requested."""
        if method != INNOEVAL and (board is not None or models):
            detail = f"Only the method {INNOEVAL} has a board. Use that method, or omit the board."
            return BoardProblem("board_models" if board is None else "board", detail)
        if board is not None and board > self.personas:
            fault = f"A board of {board} reviewers was requested, but there are only {self.personas} personas."
            return BoardProblem("board", f"{fault} Request at most that many.")
        for model in models:
            if model not in self.board_models:
                permitted_models = ", ".join(self.board_models)
                advice = (
                    f"Permitted: {permitted_models}."
                    if permitted_models
                    else "None are permitted; this service's operator can permit some with "
                    "ASSAYER_EVALUATION__BOARD_MODELS."
                )
                return BoardProblem("board_models", f"The model {model[:80]!r} is not permitted for boards. {advice}")
        return None

    def is_judged_blind(self, requested: bool | None, *, several: bool) -> bool:
        return is_judged_blind(requested, self.blind, several=several)

    def check_limit(self, max_usd: float | None, method: str | None = None) -> None:
        """Raise HttpProblem if there is a limit in US dollars although a model's price is unknown."""
        if max_usd is not None and self.unpriced_models and method not in self.methods_without_llm:
            model = self.unpriced_models[0]
            detail = f"The price of the model {model!r} is unknown, so a limit in US dollars cannot be enforced."
            advice = "Use limits.max_prompt_tokens, or the operator can set ASSAYER_LLM__PRICES."
            raise HttpProblem("not-configured", f"{detail} {advice}")

    def check_priority(self, priority: Priority) -> None:
        """Raise HttpProblem for overnight priority if no language model's batch API is configured."""
        if priority == "overnight" and not self.overnight:
            detail = (
                "The priority `overnight` is not available, because this service does not use a language "
                "model's batch API."
            )
            raise HttpProblem(
                "not-configured", f"{detail} The operator can enable it with ASSAYER_LLM__BATCH__ENABLED."
            )
