"""Settings for a command, including the language model chosen by its options. A local model is started on this machine
and runs until the command ends."""

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import psutil

from assayer.errors import InputError
from assayer.methods.review import METHOD as REVIEW
from assayer.methods.review import ReviewOptions
from assayer.methods.review.sizes import SMALL, ReviewSize
from cluster.settings import Profile, Settings
from cluster.settings_loading import load_settings
from workers.local_model.model_files import find_model_file
from workers.local_model.server import LocalModel, run_local_model
from workers.local_model.speed import ModelSpeed, count_tokens_in_progress, measure_speed

_LOOK_SECONDS = 2.0
_ANSWER_SECONDS = 7_200.0
_MAX_REVIEW_SECONDS = 300.0
"""Maximum estimated seconds for a review of the usual size; if it would take longer, a smaller one is made."""


@dataclass(frozen=True)
class ChosenModel:
    settings: Settings
    local: LocalModel | None = None
    speed: ModelSpeed | None = None
    size: ReviewSize | None = None
    """Size of the review if it is smaller than usual."""

    def describe_speed(self, ideas: int, method: str) -> str | None:
        """Describe how long a local model will take for this number of ideas; None if the model is not local."""
        if self.local is None or self.speed is None:
            return None
        from cluster.typical_usage import estimate_typical_evaluations

        prompt_speed, answer_speed = self.speed.prompt, self.speed.answer
        text = (
            f"{self.local.name} reads {prompt_speed:,.0f} and writes {answer_speed:,.0f} tokens per second "
            "on this machine."
        )
        typical_evaluation = estimate_typical_evaluations(self.settings.llm).get(method)
        typical = self.size if method == REVIEW and self.size is not None else typical_evaluation
        if typical is None:
            return f"{text} The duration of an evaluation by {method} has not been measured."
        seconds = self.speed.estimate_seconds(typical.prompt_tokens, typical.completion_tokens)
        total = f", {ideas:,} ideas about {_describe_duration(ideas * seconds)}" if ideas > 1 else ""
        is_smaller = method == REVIEW and self.size is not None
        made_smaller = "The review is made smaller to suit this speed. " if is_smaller else ""
        return (
            f"{text} At this speed, an idea takes about {_describe_duration(seconds)}{total}; less if few papers are "
            f"found, {_describe_delay()}. {made_smaller}Answers are stored, so you can interrupt the run and resume "
            "it later."
        )

    @contextmanager
    def watch(self, show: Callable[[int, int], None]) -> Iterator[None]:
        """Inside this context, call `show` every few seconds with the numbers of tokens read and written for the
        answers in progress. Does nothing if the model is not local."""
        if self.local is None:
            yield
            return
        stop_event, local = threading.Event(), self.local

        def look() -> None:
            while not stop_event.wait(_LOOK_SECONDS):
                with suppress(OSError, ValueError, KeyError):
                    show(*count_tokens_in_progress(local))

        thread = threading.Thread(target=look, name="local-model-progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop_event.set()
            thread.join()


@contextmanager
def start_chosen_model(profile: Profile, model: str | None, path_or_package: str | None) -> Iterator[ChosenModel]:
    """Yield the settings with the chosen model. A local model is started and its speed measured; it stops when the
    context ends.

    Raises InputError if both options are given, ConfigurationError if the settings are invalid, and LlmUnavailable if a
    local model does not start."""
    if path_or_package is None:
        yield ChosenModel(load_settings(profile, model))
        return
    if model is not None:
        raise InputError("--model and --local-model cannot be used together.", "Pass one of them.")
    file = find_model_file(path_or_package)
    with run_local_model(file) as local:
        settings = load_settings(
            profile,
            local.name,
            base_url=local.base_url,
            api_key=local.api_key,
            endpoint_name=local.identity,
            concurrency={"start": local.options.slots, "max": local.options.slots},
            request_timeout_seconds=_ANSWER_SECONDS,
            fast_model=None,
            judge_model=None,
            prices={local.name: (0.0, 0.0)},
            bounded_answers=True,
        )
        yield fit_settings_to_speed(settings, local, measure_speed(local))


def fit_settings_to_speed(settings: Settings, local: LocalModel, speed: ModelSpeed) -> ChosenModel:
    """Limit the ideas in progress to the model's slots, limit repairs to one, and make the review smaller if the usual
    one would take too long."""
    from cluster.typical_usage import estimate_typical_evaluations

    llm, evaluation = settings.llm, settings.evaluation
    if llm is None:
        raise AssertionError("unreachable: the settings name a model")
    changes: dict[str, Any] = {
        "llm": llm.model_copy(update={"repair_attempts": min(llm.repair_attempts, 1)}),
        "evaluation": evaluation.model_copy(update={"concurrency": min(evaluation.concurrency, local.options.slots)}),
    }
    typical_evaluation, size = estimate_typical_evaluations(llm)[REVIEW], None
    if (
        speed.estimate_seconds(typical_evaluation.prompt_tokens, typical_evaluation.completion_tokens)
        > _MAX_REVIEW_SECONDS
    ):
        size = SMALL
        changes["review"] = ReviewOptions.model_validate(size.options)
    return ChosenModel(settings.model_copy(update=changes), local, speed, size)


def _describe_delay() -> str:
    """Describe how much longer it may take because other programs use the processors."""
    load, processors = psutil.getloadavg()[0], psutil.cpu_count() or 1
    times = f"up to {load / processors:.0f} times that" if load >= 1.5 * processors else "more"
    return f"{times} while other programs use the processors (load {load:.0f} on {processors})"


def _describe_duration(seconds: float) -> str:
    """Format a duration in words, for example `40 seconds`, `12 minutes` or `3.5 hours`."""
    if seconds < 90:
        return f"{max(math.ceil(seconds), 1)} seconds"
    return f"{seconds / 60:,.0f} minutes" if seconds < 5_400 else f"{seconds / 3_600:,.1f} hours"
