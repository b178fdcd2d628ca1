"""Print the OpenAPI document: `python -m orchestrator > docs/openapi.json`."""

import json

from orchestrator.application import get_documented_app

print(json.dumps(get_documented_app().openapi(), indent=2, ensure_ascii=False))
