"""Machine-readable reports, rankings and bias tests: JSON with a published schema, and a table for spreadsheets."""

import csv
import io
import json
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import ModelSchema

from assayer.models import Absent, BiasTestReport, GraphRecord, Report, suspicious_kinds
from assayer.reports.escaping import cell
from assayer.reports.wording import BANDS
from assayer_client.rankings import Ranking


def as_json(result: Report | Ranking | BiasTestReport) -> str:
    """Return indented JSON with fields in schema order, so the same result always gives the same text."""
    return result.model_dump_json(indent=2) + "\n"


class _ClosedObjects(GenerateJsonSchema):
    """Schema of objects that have no further fields: a reader may ignore unknown fields, the program writes none."""

    def model_schema(self, schema: ModelSchema) -> JsonSchemaValue:
        return {**super().model_schema(schema), "additionalProperties": False}


def json_schema(model: type[Report] | type[Ranking] | type[BiasTestReport]) -> dict[str, Any]:
    """Return the JSON schema (2020-12) of the output of `as_json`; published as `docs/*.schema.json`."""
    schema = model.model_json_schema(mode="serialization", schema_generator=_ClosedObjects)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def as_graph_json(report: Report, graph: GraphRecord) -> str:
    """Return the graph and the references that its labels stand for, as indented JSON."""
    members = graph.model_dump(mode="json")
    cited = [reference.model_dump(mode="json") for reference in report.references]
    whole = {"evaluation_id": report.evaluation_id, "idea": report.idea.title, **members, "references": cited}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def as_csv(ranking: Ranking) -> str:
    """Return the ranking as CSV, one line per idea, best first; strengths are in logits. External text cannot
    become a formula."""
    dimensions = [dimension.name for dimension in ranking.dimensions]
    baselines = () if isinstance(ranking.baselines, Absent) else tuple(baseline.name for baseline in ranking.baselines)
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
