"""One router a noun of the API; `orchestrator.api.application` puts them together."""
