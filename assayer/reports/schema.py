"""The report as JSON, and the schema that programs may rely on."""

from typing import Any

from assayer.models import Report

__all__ = ["as_json", "report_schema"]


def as_json(report: Report) -> str:
    """Indented, fields in the schema's order: the same report is always the same text."""
    return report.model_dump_json(indent=2) + "\n"


def report_schema() -> dict[str, Any]:
    """JSON schema (2020-12) of what `as_json` writes; published as `docs/report.schema.json`."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Report.model_json_schema(mode="serialization"),
    }
