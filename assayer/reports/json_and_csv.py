"""Machine-readable reports, rankings and bias tests: JSON with a published schema, and a table for spreadsheets."""

import csv
import io
import json
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import ModelSchema

from assayer.models import Absent, BiasTestReport, GraphRecord, Report, suspicious_kinds
from assayer.reports.escaping import escape_cell
from assayer.reports.wording import BANDS
from assayer_client.rankings import RankedIdea, Ranking


def render_json(result: Report | Ranking | BiasTestReport) -> str:
    """Return indented JSON with fields in schema order, so that equal results give identical text."""
    return result.model_dump_json(indent=2) + "\n"


class _ClosedObjects(GenerateJsonSchema):
    """Schema generator for objects without additional fields. Models that parse JSON may ignore unknown fields, but the
    program never writes any."""

    def model_schema(self, schema: ModelSchema) -> JsonSchemaValue:
        return {**super().model_schema(schema), "additionalProperties": False}


def build_json_schema(model: type[Report] | type[Ranking] | type[BiasTestReport]) -> dict[str, Any]:
    """Return the JSON schema (2020-12) of the output of `render_json`; published as `docs/*.schema.json`."""
    schema = model.model_json_schema(mode="serialization", schema_generator=_ClosedObjects)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def render_graph_json(report: Report, graph: GraphRecord) -> str:
    """Return the graph and the references that its labels stand for, as indented JSON."""
    members = graph.model_dump(mode="json")
    references = [reference.model_dump(mode="json") for reference in report.references]
    document = {"evaluation_id": report.evaluation_id, "idea": report.idea.title, **members, "references": references}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def render_csv(ranking: Ranking) -> str:
    """Return the ranking as CSV with one line per idea, best first. Strengths are in logits. External text is escaped,
    so that a spreadsheet does not execute it as a formula."""
    rows = [_build_row(idea, ranking) for idea in ranking.ideas]
    text = io.StringIO()
    table = csv.DictWriter(text, list(next(iter(rows), {})), lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()


def _build_row(idea: RankedIdea, ranking: Ranking) -> dict[str, object]:
    baselines = () if isinstance(ranking.baselines, Absent) else ranking.baselines
    return {
        "rank": idea.rank,
        "rank_low": round(idea.ranks.low),
        "rank_high": round(idea.ranks.high),
        "title": escape_cell(idea.title),
        "flags": ", ".join(suspicious_kinds(idea.flags)),
        "band": "" if idea.band is None else BANDS[idea.band].lower(),
        "shortlist_probability": "" if idea.shortlist_probability is None else f"{idea.shortlist_probability:.3f}",
        "strength": f"{idea.strength:.4f}",
        "strength_low": f"{idea.strengths.low:.4f}",
        "strength_high": f"{idea.strengths.high:.4f}",
        "comparisons": idea.comparisons,
        **{f"strength: {item.name}": f"{idea.dimension_strengths[item.name]:.4f}" for item in ranking.dimensions},
        **{f"baseline: {item.name}": f"{idea.baseline_predictions[item.name]:.4f}" for item in baselines},
        "source": escape_cell(idea.source),
        "reference": escape_cell(idea.reference),
        "id": idea.id,
    }
