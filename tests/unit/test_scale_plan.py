"""The plan of a cluster: its arithmetic, its figures where the documentation and the manifests have them."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from assayer.errors import InputError
from benchmarks.scale.assumptions import read_assumptions
from benchmarks.scale.planning import Load, plan_scale
from cluster.typical_usage import estimate_typical_evaluations
from index.capacity_planning import load_planning_constants
from orchestrator.jobs.estimates import TypicalEvaluation
from workers.llm import LlmSettings

ROOT = Path(__file__).parents[2]
IDEA = TypicalEvaluation(calls=36, prompt_tokens=200_000, completion_tokens=25_000, cost_usd=0.0, high_cost_usd=0.0)
LLM = LlmSettings(base_url="http://127.0.0.1/v1", model="any", api_key=SecretStr("none"))
SCHOLAREVAL = estimate_typical_evaluations(LLM)["scholareval"]
ASSUMPTIONS = read_assumptions()
PLAIN = ASSUMPTIONS.override(
    [
        "cpu_ms_a_call=100",
        "answer_seconds=10",
        "levels=9",
        "ideas_a_process=5",
        "other_processes=10",
        "process_mb=500",
        "index_copies=1",
        "busy=0.5",
        "prompt_tokens_a_second=10000",
        "completion_tokens_a_second=5000",
        "usd_a_pod_hour=1",
        "usd_a_gpu_hour=3",
        "usd_a_million_prompt_tokens=1",
        "usd_a_million_completion_tokens=4",
    ]
)


def test_scale_plan_matches_hand_calculation() -> None:
    plan = plan_scale(Load(1_000, 25_000, IDEA), PLAIN)
    assert plan.cores == pytest.approx(10 * 0.1)  # 10 calls a second
    assert plan.processes == 5 + 10  # 25 ideas at once, five a process
    assert 7.5e9 < plan.memory_bytes < 7.6e9  # the corpus is small
    assert (plan.pods, plan.limiting_resource) == (4, "fewest")
    assert plan.gpus == 14  # 1,000 / 3,600 of 20 s of reading and 5 s of writing, half busy: 13.9
    assert plan.usd_an_hour == 4 * 1 + 14 * 3
    assert plan.usd_an_hour_with_endpoint == pytest.approx(4 + 1_000 * (0.2 + 0.1))
    assert plan.limits["database's connections"] == pytest.approx(150 / 450)
    assert plan.nearest_limit == "database's connections"


@pytest.mark.parametrize(
    ("changed", "follow"), [("cpu_ms_a_call=5000", "cores"), ("process_mb=20000", "memory"), ("pod_gb=100", "fewest")]
)
def test_pod_count_follows_largest_resource_demand(changed: str, follow: str) -> None:
    assert plan_scale(Load(1_000, 25_000, IDEA), PLAIN.override([changed])).limiting_resource == follow


def test_cached_prompt_tokens_need_no_gpu_time() -> None:
    assert plan_scale(Load(1_000, 25_000, IDEA), PLAIN.override(["cached_share=1"])).gpus == 3


def test_each_additional_corpus_segment_adds_search_cost() -> None:
    """A million papers are in the figure of a call already."""
    cores_of_small_corpus, cores_of_large_corpus = (
        plan_scale(Load(3_600, papers, IDEA), ASSUMPTIONS).cores for papers in (1_000_000, 11_000_000)
    )
    assert cores_of_large_corpus - cores_of_small_corpus == pytest.approx(
        ASSUMPTIONS["searches_an_idea"] * 10 * ASSUMPTIONS["search_ms"] / 1000
    )


@given(ideas=st.floats(1, 1e5), papers=st.integers(1, 3 * 10**8))
def test_larger_load_never_needs_fewer_resources(ideas: float, papers: int) -> None:
    smaller_plan, larger_plan = (plan_scale(Load(times * ideas, times * papers, IDEA), ASSUMPTIONS) for times in (1, 2))
    assert all(a <= b for a, b in zip(smaller_plan[:5], larger_plan[:5], strict=True))
    assert smaller_plan.gpus <= larger_plan.gpus
    assert all(share <= larger_plan.limits[name] for name, share in smaller_plan.limits.items())


@pytest.mark.parametrize("name", [name for name, figure in ASSUMPTIONS.figures.items() if figure.page])
def test_measured_figures_match_the_documentation(name: str) -> None:
    figure = ASSUMPTIONS.figures[name]
    assert figure.page is not None
    assert figure.written is not None
    assert figure.written in (ROOT / figure.page).read_text("utf-8")


def test_configured_figures_match_deployment_manifests() -> None:
    service = (ROOT / "k8s" / "base" / "service.yaml").read_text("utf-8")
    (group,) = yaml.safe_load(service)["spec"]["rayClusterConfig"]["workerGroupSpecs"]
    resource_requests = group["template"]["spec"]["containers"][0]["resources"]["requests"]
    assert (ASSUMPTIONS["pod_cores"], f"{ASSUMPTIONS['pod_gb']:g}Gi") == (
        float(resource_requests["cpu"]),
        resource_requests["memory"],
    )
    assert (ASSUMPTIONS["fewest_pods"], ASSUMPTIONS["most_pods"]) == (group["minReplicas"], group["maxReplicas"])
    serve = yaml.safe_load((ROOT / "deploy" / "serve" / "cpu-cluster.yaml").read_text("utf-8"))
    pools = serve["applications"][0]["args"]["serving"]
    assert ASSUMPTIONS["ideas_a_process"] == pools["evaluator"]["ongoing"]
    assert ASSUMPTIONS["index_copies"] == pools["index"]["replicas"]
    database = (ROOT / "k8s" / "postgres" / "cloudnative" / "cluster.yaml").read_text("utf-8")
    spec = yaml.safe_load(database.split("---")[0])["spec"]
    assert ASSUMPTIONS["connections"] == float(spec["postgresql"]["parameters"]["max_connections"])
    assert ASSUMPTIONS["database_cores"] == float(spec["resources"]["requests"]["cpu"])
    assert ASSUMPTIONS["usd_a_pod_hour"] == pytest.approx(4 * load_planning_constants().profiles["cpu-2"].usd_per_hour)


def test_documented_plan_table_matches_planner_output() -> None:
    rows = [
        f"| {ideas:,} | {papers} | {plan.pods} ({plan.limiting_resource}) | {plan.memory_bytes / 1e9:,.0f} GB "
        f"| {plan.gpus} | {plan.usd_an_hour / ideas:.3f}; {plan.usd_an_hour_with_endpoint / ideas:.3f} "
        f"| {plan.nearest_limit}, {100 * plan.limits[plan.nearest_limit]:.0f} % |"
        for papers, count in (("25,000", 25_000), ("200 million", 2 * 10**8))
        for ideas in (100, 1_000, 10_000)
        for plan in [plan_scale(Load(ideas, count, SCHOLAREVAL), ASSUMPTIONS)]
    ]
    page = (ROOT / "docs" / "run" / "kubernetes.md").read_text("utf-8")
    assert "\n".join(rows) in page, "Write these there:\n" + "\n".join(rows)
    tokens = round(SCHOLAREVAL.prompt_tokens, -3)
    assert f"{SCHOLAREVAL.calls:g} LLM requests and {tokens:,} tokens per proposal" in page


@pytest.mark.parametrize("given_text", ["cores=3", "busy=0", "busy=1.5", "levels=many", "levels=nan", "levels"])
def test_invalid_figure_override_is_rejected(given_text: str) -> None:
    with pytest.raises(InputError):
        ASSUMPTIONS.override([given_text])
