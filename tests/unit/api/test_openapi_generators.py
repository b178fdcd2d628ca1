"""What others' tools make of the OpenAPI document: a validator, a generator of models, a generator of clients.

What the client does with a service that answers: tests/contract/api/test_generated_client.py. A third generator,
openapi-python-client 0.29, cannot be installed beside the typer that the program uses; what it leaves out operations
for is tested here by itself.
"""

import ast
import json
import runpy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from datamodel_code_generator import InputFileType, generate
from datamodel_code_generator.enums import DataModelType
from datamodel_code_generator.format import Formatter
from openapi_python_generator.common import Formatter as Unformatted
from openapi_python_generator.generate_data import generate_data
from openapi_spec_validator import OpenAPIV31SpecValidator
from pydantic import BaseModel, ValidationError

PUBLISHED = Path(__file__).parents[3] / "docs" / "openapi.json"


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(PUBLISHED.read_text("utf-8"))
    return loaded


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Of every schema of the document, as datamodel-code-generator writes them."""
    written = tmp_path_factory.mktemp("generated") / "models.py"
    generate(
        PUBLISHED,
        input_file_type=InputFileType.OpenAPI,
        output=written,
        output_model_type=DataModelType.PydanticV2BaseModel,
        formatters=[Formatter.BUILTIN],
    )
    return runpy.run_path(str(written))


def test_the_document_is_valid_openapi(document: dict[str, Any]) -> None:
    assert [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()] == []


def test_models_are_generated_for_every_schema(document: dict[str, Any], models: dict[str, Any]) -> None:
    assert len(document["components"]["schemas"]) > 100
    named = {name.replace("_", "") for name in models}
    assert not {name for name in document["components"]["schemas"] if name.replace("_", "") not in named}


def test_generated_bodies_say_what_is_meant(models: dict[str, Any]) -> None:
    body: type[BaseModel] = models["EvaluationBody"]
    sent = body.model_validate({"idea": {"title": "Corals", "text": "We listen to reefs."}})
    assert sent.model_dump(mode="json", exclude_unset=True)["idea"]["title"] == "Corals"
    change: type[BaseModel] = models["TenantPatch"]
    assert change.model_validate({}).model_dump(exclude_unset=True) == {}
    with pytest.raises(ValidationError):
        models["OverrideBody"].model_validate({"score": 6, "reason": "because"})


def test_a_client_is_generated_with_a_function_for_every_operation(document: dict[str, Any], tmp_path: Path) -> None:
    generate_data(PUBLISHED, tmp_path / "client", formatter=Unformatted.NONE)
    services = [ast.parse(file.read_text("utf-8")) for file in (tmp_path / "client" / "services").glob("*_service.py")]
    bodies = [node for service in services for node in service.body]
    made = Counter(type(node) for node in bodies if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    operations = sum(len(methods) for methods in document["paths"].values())
    assert operations > 100
    assert made == {ast.FunctionDef: operations, ast.AsyncFunctionDef: operations}
    functions = {node.name for node in bodies if isinstance(node, ast.FunctionDef)}
    assert {"evaluations_ask", "comparisons_ask", "members_mails"} <= functions


def test_no_header_is_a_list_for_which_generators_leave_operations_out(document: dict[str, Any]) -> None:
    headers = [
        parameter
        for methods in document["paths"].values()
        for operation in methods.values()
        for parameter in operation.get("parameters", ())
        if parameter["in"] == "header"
    ]
    assert {"Prefer", "Idempotency-Key"} <= {one["name"] for one in headers}
    assert not [one for one in headers if "array" in json.dumps(one["schema"])]
