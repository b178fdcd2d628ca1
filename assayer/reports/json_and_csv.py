"""Reports, rankings and audits for programs: JSON with a published schema, and a table for spreadsheets."""

import csv
import io
import json
from typing import Any

from assayer.models import Absent, AuditReport, GraphRecord, Report, suspicious_kinds
from assayer.models.ranking import Ranking
from assayer.reports.escaping import cell
from assayer.reports.wording import BANDS

__all__ = [
    "as_audit_json",
    "as_csv",
    "as_graph_json",
    "as_json",
    "as_ranking_json",
    "audit_schema",
    "ranking_schema",
    "report_schema",
]


def as_json(report: Report) -> str:
    """Indented, fields in the schema's order: the same report is always the same text."""
    return report.model_dump_json(indent=2) + "\n"


def report_schema() -> dict[str, Any]:
    """JSON schema (2020-12) of what `as_json` writes; published as `docs/report.schema.json`."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Report.model_json_schema(mode="serialization"),
    }


def as_graph_json(report: Report, graph: GraphRecord) -> str:
    """Indented: the graph, and the references that its labels stand for."""
    members = graph.model_dump(mode="json")
    cited = [one.model_dump(mode="json") for one in report.references]
    whole = {"evaluation_id": report.evaluation_id, "idea": report.idea.title, **members, "references": cited}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def as_ranking_json(ranking: Ranking) -> str:
    """Indented, fields in the schema's order: the same ranking is always the same text."""
    return ranking.model_dump_json(indent=2) + "\n"


def ranking_schema() -> dict[str, Any]:
    """JSON schema (2020-12) of what `as_ranking_json` writes; published as `docs/ranking.schema.json`."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Ranking.model_json_schema(mode="serialization"),
    }


def as_audit_json(audit: AuditReport) -> str:
    """Every score that the differences are made of is in it."""
    return audit.model_dump_json(indent=2) + "\n"


def audit_schema() -> dict[str, Any]:
    """JSON schema (2020-12) of what `as_audit_json` writes; published as `docs/audit.schema.json`."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **AuditReport.model_json_schema(mode="serialization"),
    }


def as_csv(ranking: Ranking) -> str:
    """One line an idea, best first; strengths in logits. Text from outside cannot become a formula."""
    dimensions = [one.name for one in ranking.dimensions]
    baselines = () if isinstance(ranking.baselines, Absent) else tuple(one.name for one in ranking.baselines)
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(
        [
            *("rank", "rank_low", "rank_high", "title", "flags", "band", "chance_in"),
            *("strength", "strength_low", "strength_high", "comparisons"),
            *(f"strength: {name}" for name in dimensions),
            *(f"baseline: {name}" for name in baselines),
            *("source", "reference", "id"),
        ]
    )
    for idea in ranking.ideas:
        strengths = (idea.strength, idea.strengths.low, idea.strengths.high)
        table.writerow(
            [
                *(
                    idea.rank,
                    round(idea.ranks.low),
                    round(idea.ranks.high),
                    cell(idea.title),
                    ", ".join(suspicious_kinds(idea.flags)),
                ),
                *(
                    "" if idea.band is None else BANDS[idea.band].lower(),
                    "" if idea.chance_in is None else f"{idea.chance_in:.3f}",
                ),
                *(f"{value:.4f}" for value in strengths),
                idea.comparisons,
                *(f"{idea.by_dimension[name]:.4f}" for name in dimensions),
                *(f"{idea.by_baseline[name]:.4f}" for name in baselines),
                *(cell(idea.source), cell(idea.reference), idea.id),
            ]
        )
    return text.getvalue()
