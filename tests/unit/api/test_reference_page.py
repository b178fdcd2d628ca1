"""The page of the API: everything that the OpenAPI document tells, in words."""

import re
from html import unescape
from typing import Any

import pytest

from orchestrator.api.routes.reference_page import describe_type, render_reference
from orchestrator.application import get_documented_app


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return get_documented_app().openapi()


@pytest.fixture(scope="module")
def page(document: dict[str, Any]) -> str:
    return render_reference(document)


def test_every_operation_shows_path_parameters_responses_and_scopes(document: dict[str, Any], page: str) -> None:
    blocks = re.findall(r'<details class="operation" id="([^"]+)">(.*?)</details>', page, re.DOTALL)
    text_by_operation = {name: unescape(block) for name, block in blocks}
    expected_texts = {
        item["operationId"]: (path, method, item)
        for path, methods in document["paths"].items()
        for method, item in methods.items()
    }
    assert text_by_operation.keys() == expected_texts.keys()
    for name, (path, method, operation) in expected_texts.items():
        block = text_by_operation[name]
        assert f"<code>{path}</code>" in block, name
        assert f">{method.upper()}</span>" in block, name
        for needed in (*(item["name"] for item in operation.get("parameters", ())), *operation["responses"]):
            assert f"<code>{needed}</code>" in block, (name, needed)
        for scopes in (scopes for item in operation.get("security", ()) for scopes in item.values()):
            assert f"scope <code>{', '.join(scopes)}</code>" in block, name


def test_every_schema_is_described_with_its_properties(document: dict[str, Any], page: str) -> None:
    for name, schema in document["components"]["schemas"].items():
        _, _, schema_section = page.partition(f'id="schema-{name}"')
        block = schema_section.partition('class="schema"')[0]
        for item in schema.get("properties", ()):
            assert f"<code>{item}</code>" in block, (name, item)


def test_internal_links_and_anchors_are_valid_and_unique(page: str) -> None:
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)
    assert 'href="/openapi.json"' in page


def test_page_has_neither_scripts_nor_external_resources(page: str) -> None:
    assert not re.search(r"<script|<img|<iframe|\ssrc=|\son\w+=|\sstyle=", page)
    assert set(re.findall(r'<link rel="icon" href="([^"]+)"', page)) == {"data:,"}
    assert page.count("<link") == 1


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (
            {"type": "integer", "minimum": 1, "maximum": 500, "default": 50},
            "integer, at least 1, at most 500, default 50",
        ),
        ({"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]}, "string (date) or null"),
        ({"$ref": "#/components/schemas/Idea"}, '<a href="#schema-Idea">Idea</a>'),
        ({"type": "array", "items": {"$ref": "#/x/Idea"}}, 'a list of <a href="#schema-Idea">Idea</a>'),
        ({"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}]}, "a list: string, number"),
        ({"type": "object", "additionalProperties": {"type": "number"}}, "an object of number"),
        ({"const": "evaluation"}, "&#34;evaluation&#34;"),
        ({"enum": ["a", "b"]}, "&#34;a&#34;, &#34;b&#34;"),
        ({"type": "string", "pattern": "<b>"}, "string, matches &lt;b&gt;"),
        ({}, "anything"),
    ],
)
def test_schema_types_are_described_in_words(schema: dict[str, Any], words: str) -> None:
    assert describe_type(schema) == words
