"""Remote sources, one file per API, behind the small ports of `workers.sources.source`."""
