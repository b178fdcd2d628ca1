"""`python -m orchestrator.api > docs/openapi.json`: the OpenAPI document."""

import json

from orchestrator.api.application import described

print(json.dumps(described().openapi(), indent=2, ensure_ascii=False))
