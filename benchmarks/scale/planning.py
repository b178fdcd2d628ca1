"""Calculates pods, GPUs, memory and price for a load, and the limit that it reaches first. Nothing is run."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from benchmarks.scale.assumptions import Assumptions
from index.capacity_planning import CapacityRequest, plan_capacity, planning_constants
from orchestrator.jobs.estimates import TypicalEvaluation

_SEGMENT = 1_000_000
"""Largest number of papers in a segment."""


class Load(NamedTuple):
    ideas: float
    """Ideas per hour."""
    papers: int
    idea: TypicalEvaluation
    embedding_model: str = "all-MiniLM-L6-v2"


class ScalePlan(NamedTuple):
    cores: float
    """Average number of cores in use."""
    hop_cores: float
    """Part of `cores` used for calls between processes."""
    memory_bytes: float
    processes: int
    pods: int
    pods_follow: str
    """Resource that determines the number of pods: `cores`, `memory`, or `fewest`."""
    gpus: int
    """GPUs for a self-hosted model."""
    usd_an_hour: float
    """Cost of pods and GPUs."""
    usd_an_hour_with_endpoint: float
    """Cost of pods, and of tokens from an external endpoint."""
    limits: Mapping[str, float]
    """Share that the load uses of each resource that exists once and does not grow."""

    @property
    def nearest_limit(self) -> str:
        return max(self.limits, key=lambda name: self.limits[name])


def plan_scale(load: Load, have: Assumptions) -> ScalePlan:
    calls = load.ideas * load.idea.calls / 3600
    evaluators = math.ceil(_ideas_at_once(load, have) / have["ideas_a_process"])
    hops = load.ideas * have["hops_an_idea"] / 3600
    cores = calls * have["cpu_ms_a_call"] / 1000 + _search_cores(load, have)
    processes = evaluators + round(have["other_processes"])
    memory = processes * have["process_mb"] * 1e6 + have["index_copies"] * _corpus_bytes(load)
    wanted = {
        "cores": math.ceil(cores / have["busy"] / have["pod_cores"]),
        "memory": math.ceil(memory / (have["pod_gb"] * 1e9)),
        "fewest": round(have["fewest_pods"]),
    }
    # If several need equally many, `fewest` takes precedence.
    follow = max(reversed(wanted), key=lambda name: wanted[name])
    pods, gpus = wanted[follow], _gpus(load, have)
    pods_usd = pods * have["usd_a_pod_hour"]
    return ScalePlan(
        cores=cores,
        hop_cores=hops * have["hop_cpu_ms"] / 1000,
        memory_bytes=memory,
        processes=processes,
        pods=pods,
        pods_follow=follow,
        gpus=gpus,
        usd_an_hour=pods_usd + gpus * have["usd_a_gpu_hour"],
        usd_an_hour_with_endpoint=pods_usd + load.ideas * _token_usd(load, have),
        limits={
            "database's processors": calls * have["database_ms_a_call"] / 1000 / have["database_cores"],
            "database's connections": processes * have["connections_a_process"] / (have["connections"] / 2),
            "an evaluator's processor, for hops": _asking_share(load, have),
            "most pods": pods / have["most_pods"],
        },
    )


def _search_cores(load: Load, have: Assumptions) -> float:
    """Return the cores for searches in all segments after the first, which the cost of a call already includes."""
    segments = math.ceil(load.papers / _SEGMENT) - 1
    return load.ideas / 3600 * have["searches_an_idea"] * segments * have["search_ms"] / 1000


def _ideas_at_once(load: Load, have: Assumptions) -> float:
    return load.ideas / 3600 * have["levels"] * have["answer_seconds"]


def _asking_share(load: Load, have: Assumptions) -> float:
    """Return the share of an evaluator's single CPU core that calls between processes take.

    The evaluator works on as many ideas as it may, or as there are."""
    ideas = min(_ideas_at_once(load, have), have["ideas_a_process"])
    each = have["levels"] * have["answer_seconds"]
    return ideas / each * have["hops_an_idea"] * have["hop_asking_cpu_ms"] / 1000


def _corpus_bytes(load: Load) -> float:
    """Return how many bytes of the corpus should fit in memory beside the processes."""
    wanted = CapacityRequest(papers=load.papers, model=load.embedding_model, profile="cpu-2")
    return plan_capacity(wanted, planning_constants()).memory[0].value


def _gpus(load: Load, have: Assumptions) -> int:
    read = load.idea.prompt_tokens * (1 - have["cached_share"]) / have["prompt_tokens_a_second"]
    written = load.idea.completion_tokens / have["completion_tokens_a_second"]
    return math.ceil(load.ideas / 3600 * (read + written) / have["busy"])


def _token_usd(load: Load, have: Assumptions) -> float:
    """Return the token cost of an idea, in USD."""
    prompt = load.idea.prompt_tokens * have["usd_a_million_prompt_tokens"]
    return (prompt + load.idea.completion_tokens * have["usd_a_million_completion_tokens"]) / 1e6
