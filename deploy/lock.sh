#!/bin/sh
# Renews the locks of the image: every package but torch and ours, with its hashes. Needs uv.
# requirements.lock is what all variants have; requirements-cpu.lock and requirements-cuda.lock are FAISS, whose builds
# bring one module. torch is left out, as its build is chosen when the image is made: with it go CUDA's libraries.
set -eu
cd "$(dirname "$0")/.."
extras="models bge gnn web api service pdf tables otel ingest mcp object-storage grobid"
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
locked() {
    uv pip compile --python-version 3.13 --python-platform x86_64-unknown-linux-gnu --generate-hashes \
        --no-annotate --no-header --no-emit-index-url --no-emit-find-links "$@" > /dev/null
}
# shellcheck disable=SC2046
locked pyproject.toml $(printf -- '--extra %s ' $extras) \
    --no-emit-package torch --no-emit-package triton --output-file deploy/requirements.lock "$@"
for variant in cpu:cpu cuda:gpu; do
    grep -o "faiss-${variant#*:}[<>=0-9.,]*" pyproject.toml > "$folder/faiss.in"
    locked "$folder/faiss.in" --no-deps --output-file "deploy/requirements-${variant%:*}.lock" "$@"
done
# CUDA's libraries go with the build of torch that wants them.
python3 - <<'PYTHON'
import re
from pathlib import Path

file = Path("deploy/requirements.lock")
entries = re.split(r"(?m)^(?=[a-z0-9#])", file.read_text())
file.write_text("".join(one for one in entries if not re.match(r"nvidia-|cuda-|#", one)))
PYTHON
