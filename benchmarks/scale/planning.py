"""Calculates pods, GPUs, memory and price for a load, and the limit that it reaches first. Nothing is run."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from benchmarks.scale.assumptions import Assumptions
from index.capacity_planning import CapacityRequest, load_planning_constants, plan_capacity
from orchestrator.jobs.estimates import TypicalEvaluation

_SEGMENT_PAPERS = 1_000_000
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
    limiting_resource: str
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


def plan_scale(load: Load, assumptions: Assumptions) -> ScalePlan:
    calls = load.ideas * load.idea.calls / 3600
    evaluators = math.ceil(_compute_concurrent_ideas(load, assumptions) / assumptions["ideas_a_process"])
    hops = load.ideas * assumptions["hops_an_idea"] / 3600
    cores = calls * assumptions["cpu_ms_a_call"] / 1000 + _compute_search_cores(load, assumptions)
    processes = evaluators + round(assumptions["other_processes"])
    memory = processes * assumptions["process_mb"] * 1e6 + assumptions["index_copies"] * _compute_corpus_bytes(load)
    pods_by_resource = {
        "cores": math.ceil(cores / assumptions["busy"] / assumptions["pod_cores"]),
        "memory": math.ceil(memory / (assumptions["pod_gb"] * 1e9)),
        "fewest": round(assumptions["fewest_pods"]),
    }
    # If several need equally many, `fewest` takes precedence.
    limiting_resource = max(reversed(pods_by_resource), key=lambda name: pods_by_resource[name])
    pods, gpus = pods_by_resource[limiting_resource], _count_gpus(load, assumptions)
    pods_usd = pods * assumptions["usd_a_pod_hour"]
    return ScalePlan(
        cores=cores,
        hop_cores=hops * assumptions["hop_cpu_ms"] / 1000,
        memory_bytes=memory,
        processes=processes,
        pods=pods,
        limiting_resource=limiting_resource,
        gpus=gpus,
        usd_an_hour=pods_usd + gpus * assumptions["usd_a_gpu_hour"],
        usd_an_hour_with_endpoint=pods_usd + load.ideas * _compute_token_usd(load, assumptions),
        limits={
            "database's processors": calls * assumptions["database_ms_a_call"] / 1000 / assumptions["database_cores"],
            "database's connections": processes
            * assumptions["connections_a_process"]
            / (assumptions["connections"] / 2),
            "an evaluator's processor, for hops": _compute_asking_share(load, assumptions),
            "most pods": pods / assumptions["most_pods"],
        },
    )


def _compute_search_cores(load: Load, assumptions: Assumptions) -> float:
    """Return the cores for searches in all segments after the first, which the cost of a call already includes."""
    segments = math.ceil(load.papers / _SEGMENT_PAPERS) - 1
    return load.ideas / 3600 * assumptions["searches_an_idea"] * segments * assumptions["search_ms"] / 1000


def _compute_concurrent_ideas(load: Load, assumptions: Assumptions) -> float:
    return load.ideas / 3600 * assumptions["levels"] * assumptions["answer_seconds"]


def _compute_asking_share(load: Load, assumptions: Assumptions) -> float:
    """Return the share of an evaluator's single CPU core that calls between processes take.

    The evaluator works on as many ideas as it may, or as there are."""
    ideas = min(_compute_concurrent_ideas(load, assumptions), assumptions["ideas_a_process"])
    seconds_per_idea = assumptions["levels"] * assumptions["answer_seconds"]
    return ideas / seconds_per_idea * assumptions["hops_an_idea"] * assumptions["hop_asking_cpu_ms"] / 1000


def _compute_corpus_bytes(load: Load) -> float:
    """Return how many bytes of the corpus should fit in memory beside the processes."""
    request = CapacityRequest(papers=load.papers, model=load.embedding_model, profile="cpu-2")
    return plan_capacity(request, load_planning_constants()).memory[0].value


def _count_gpus(load: Load, assumptions: Assumptions) -> int:
    read_seconds = load.idea.prompt_tokens * (1 - assumptions["cached_share"]) / assumptions["prompt_tokens_a_second"]
    write_seconds = load.idea.completion_tokens / assumptions["completion_tokens_a_second"]
    return math.ceil(load.ideas / 3600 * (read_seconds + write_seconds) / assumptions["busy"])


def _compute_token_usd(load: Load, assumptions: Assumptions) -> float:
    """Return the token cost of an idea, in USD."""
    prompt = load.idea.prompt_tokens * assumptions["usd_a_million_prompt_tokens"]
    return (prompt + load.idea.completion_tokens * assumptions["usd_a_million_completion_tokens"]) / 1e6
