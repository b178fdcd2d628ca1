"""Contents of `/metrics`."""

import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from orchestrator.api.metrics import render_metrics


def parse_family_names(text: bytes) -> set[str]:
    return {family.name for family in text_string_to_metric_families(text.decode())}


def test_latency_is_omitted_for_task_answered_only_from_cache() -> None:
    stage = {"task": "scholareval.review", "calls": 3, "cached": 3, "failed": 0, "p50": None, "p95": None}
    samples = [
        sample
        for family in text_string_to_metric_families(render_metrics({"tasks": [stage]}).decode())
        for sample in family.samples
        if sample.labels.get("task") == stage["task"] and sample.name.startswith("assayer_stage_")
    ]
    assert {(sample.name, sample.value) for sample in samples} == {
        ("assayer_stage_requests_last_5_minutes", 3),
        ("assayer_stage_cached_last_5_minutes", 3),
        ("assayer_stage_failed_last_5_minutes", 0),
    }


def test_tenant_name_with_quotes_and_newlines_is_escaped() -> None:
    queued = {"tenant": 'a"\n}b', "priority": "batch", "jobs": 2, "oldest_seconds": 1.5}
    families = text_string_to_metric_families(render_metrics({"queued": [queued]}).decode())
    (queued_sample,) = (
        sample for family in families for sample in family.samples if sample.name == "assayer_jobs_queued"
    )
    assert (queued_sample.labels["tenant"], queued_sample.value) == (queued["tenant"], 2)


def test_multiprocess_metrics_exclude_python_process_metrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    metric_names = parse_family_names(render_metrics({}))
    assert "assayer_jobs_queued" in metric_names
    assert "python_info" not in metric_names


def test_counters_of_killed_process_are_kept_and_gauges_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    program = """
from prometheus_client import Counter, Gauge
Counter("assayer_counted", "Of this test.").inc()
Gauge("assayer_in_work", "Of this test.", multiprocess_mode="livesum").inc()
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
    metrics_text = render_metrics({}).decode()
    assert "\nassayer_counted_total 1.0\n" in metrics_text
    assert "assayer_in_work" not in metrics_text


def test_unreachable_database_is_reported_as_metric() -> None:
    assert b"\nassayer_database_up 0.0\n" in render_metrics(None)
    assert b"\nassayer_database_up 1.0\n" in render_metrics({})
