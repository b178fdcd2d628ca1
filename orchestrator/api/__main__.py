"""`python -m orchestrator.api > docs/openapi.json`: the OpenAPI document."""

import json

from orchestrator.api.application import documented_app

print(json.dumps(documented_app().openapi(), indent=2, ensure_ascii=False))
