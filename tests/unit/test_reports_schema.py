"""The report as JSON keeps its schema and its words."""

import json
from pathlib import Path
from typing import get_args

import jsonschema
import pytest

from assayer.models import BiasTestReport, Notice, Report, SourceUse, TextFlag
from assayer.models.base import Frozen
from assayer.reports import wording
from assayer.reports.json_and_csv import build_json_schema, render_json
from assayer_client.rankings import Ranking
from tests.unit.reports_fixture import make_full_report
from tests.unit.reports_hostile import make_hostile_report

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(("name", "model"), [("report", Report), ("ranking", Ranking), ("bias_test", BiasTestReport)])
def test_published_schemas_match_their_models(
    name: str, model: type[Report] | type[Ranking] | type[BiasTestReport]
) -> None:
    published = json.loads((DOCS / f"{name}.schema.json").read_text(encoding="utf-8"))
    assert published == build_json_schema(model), (
        f"docs/{name}.schema.json is out of date; renew it with: make generated"
    )


@pytest.mark.parametrize("report", [make_full_report(), make_hostile_report()], ids=["full", "hostile"])
def test_report_json_matches_schema_and_round_trips(report: Report) -> None:
    text = render_json(report)
    jsonschema.validate(json.loads(text), build_json_schema(Report), cls=jsonschema.Draft202012Validator)
    assert Report.model_validate_json(text) == report


def test_report_json_is_deterministic() -> None:
    assert render_json(make_full_report()) == render_json(make_full_report())


@pytest.mark.parametrize(
    ("model", "field", "words"),
    [
        (Notice, "kind", wording.NOTICES),
        (TextFlag, "kind", wording.FLAGS),
        (SourceUse, "operation", wording.OPERATIONS),
    ],
)
def test_every_model_kind_has_display_wording(model: type[Frozen], field: str, words: dict[str, str]) -> None:
    assert set(words) == set(get_args(model.model_fields[field].annotation))
