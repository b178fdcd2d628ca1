#!/bin/sh
# Renews deploy/requirements.lock: every package of the image but torch and ours, with its hashes. Needs uv.
# torch is left out, as its build is chosen when the image is made: with it go CUDA's libraries.
set -eu
cd "$(dirname "$0")/.."
extras="local gnn web service pdf tables otel ingest mcp object-storage"
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
# assayer-client is of this repository.
grep -v '"assayer-client' pyproject.toml > "$folder/pyproject.toml"
# shellcheck disable=SC2046
uv pip compile "$folder/pyproject.toml" $(printf -- '--extra %s ' $extras) \
    --python-version 3.13 --python-platform x86_64-unknown-linux-gnu --generate-hashes \
    --no-annotate --no-header --no-emit-index-url --no-emit-find-links \
    --no-emit-package torch --no-emit-package triton --output-file deploy/requirements.lock "$@" > /dev/null
# CUDA's libraries go with the build of torch that wants them.
python3 - <<'PYTHON'
import re
from pathlib import Path

file = Path("deploy/requirements.lock")
entries = re.split(r"(?m)^(?=[a-z0-9#])", file.read_text())
file.write_text("".join(one for one in entries if not re.match(r"nvidia-|cuda-|#", one)))
PYTHON
