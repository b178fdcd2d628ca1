"""Alerts and dashboard: every expression is PromQL and asks for figures that the program tells, by their labels."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml

from tests.unit.metric_labels import collect_metric_labels

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
LABELS_OF_PROMETHEUS_METRICS = {"up": {"job", "instance"}}


def list_rules() -> list[dict[str, Any]]:
    document = yaml.safe_load((DEPLOY / "prometheus" / "rules.yaml").read_text("utf-8"))
    return [rule for group in document["groups"] for rule in group["rules"]]


def list_targets() -> list[dict[str, Any]]:
    dashboard = json.loads((DEPLOY / "grafana" / "assayer.json").read_text("utf-8"))
    return [target for panel in dashboard["panels"] for target in panel.get("targets", ())]


def iterate_selectors(node: Any) -> Iterator[Any]:
    match type(node).__name__:
        case "VectorSelector":
            yield node
        case "MatrixSelector":
            yield node.vector_selector
        case "BinaryExpr":
            yield from iterate_selectors(node.lhs)
            yield from iterate_selectors(node.rhs)
        case "Call":
            for argument in node.args:
                yield from iterate_selectors(argument)
        case "AggregateExpr" | "ParenExpr" | "UnaryExpr" | "SubqueryExpr":
            yield from iterate_selectors(node.expr)
        case "NumberLiteral" | "StringLiteral":
            return
        case other:
            raise AssertionError(other)


EXPRESSIONS = [rule["expr"] for rule in list_rules()] + [target["expr"] for target in list_targets()]


def test_expressions_ask_only_for_metrics_and_labels_that_exist() -> None:
    labels_by_metric = {**LABELS_OF_PROMETHEUS_METRICS, **collect_metric_labels()}
    faults = []
    for expression in EXPRESSIONS:
        selectors = list(iterate_selectors(promql_parser.parse(expression)))
        for selector in selectors:
            matched = {matcher.name for matcher in selector.matchers.matchers}
            if selector.name not in labels_by_metric or not matched <= labels_by_metric[selector.name] | {
                "job",
                "instance",
            }:
                faults.append((expression, selector.name, sorted(matched)))
        grouped = {label for labels in re.findall(r"by \(([^)]*)\)", expression) for label in labels.split(", ")}
        if not grouped <= {"job"}.union(*(labels_by_metric.get(selector.name, set()) for selector in selectors)):
            faults.append((expression, "grouped by", sorted(grouped)))
    assert faults == []


def list_scenarios() -> list[dict[str, Any]]:
    document = yaml.safe_load((DEPLOY / "prometheus" / "rules_test.yaml").read_text("utf-8"))
    tests: list[dict[str, Any]] = document["tests"]
    return tests


def test_alert_scenarios_use_exact_labels_of_exported_metrics() -> None:
    labels_by_metric = {**LABELS_OF_PROMETHEUS_METRICS, **collect_metric_labels()}
    for scenario in list_scenarios():
        for item in scenario["input_series"]:
            (selector,) = iterate_selectors(promql_parser.parse(item["series"]))
            labels = {matcher.name for matcher in selector.matchers.matchers}
            assert labels == labels_by_metric[selector.name] | {"job", "instance"}, item["series"]


def test_every_alert_fires_in_a_test_scenario() -> None:
    expected = [
        sample["labels"]
        for scenario in list_scenarios()
        for test in scenario["promql_expr_test"]
        for sample in test["exp_samples"]
    ]
    assert sorted(expected) == sorted(f'{{alertname="{rule["alert"]}"}}' for rule in list_rules())


def test_alerts_fire_on_faults_and_stay_silent_on_healthy_service() -> None:
    promtool = os.environ.get("ASSAYER_TEST_PROMTOOL") or shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed (Debian's package prometheus has it)")
    ran = subprocess.run(
        [promtool, "test", "rules", "rules_test.yaml"],
        cwd=DEPLOY / "prometheus",
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_every_alert_has_unique_name_severity_and_action() -> None:
    names = [rule["alert"] for rule in list_rules()]
    assert len(names) == len(set(names)) > 8
    for rule in list_rules():
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert rule["annotations"].keys() == {"summary", "action"}


def test_alert_summaries_use_only_labels_available_in_their_expression() -> None:
    for rule in list_rules():
        for label in re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]):
            assert label in rule["expr"] or rule["expr"].startswith("up"), rule["alert"]


def test_names_follow_the_conventions_of_prometheus() -> None:
    for name in collect_metric_labels():
        assert re.fullmatch(r"assayer_[a-z][a-z0-9_]*", name)
        assert "milliseconds" not in name


def test_dashboard_panels_do_not_overlap() -> None:
    dashboard = json.loads((DEPLOY / "grafana" / "assayer.json").read_text("utf-8"))
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in dashboard["panels"])
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
