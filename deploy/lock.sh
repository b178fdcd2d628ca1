#!/bin/sh
# Updates the images' lock files: every package except ours, with its hashes. Needs uv. requirements.lock has the
# packages in all variants of assayer's image; requirements-torch.lock has torch (TORCH chooses the build) with CUDA's
# libraries; requirements-cpu.lock and requirements-cuda.lock have the two FAISS builds, which provide the same module.
# deploy/llm/requirements.lock is for the image of a self-hosted language model.
set -eu
cd "$(dirname "$0")/.."
extras="models bge gnn web api service pdf tables otel ingest mcp object-storage grobid"
torch=${TORCH:-torch==2.13.0}
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
locked() {
    uv pip compile --python-version 3.13 --python-platform x86_64-manylinux_2_31 --generate-hashes \
        --no-annotate --no-header --no-emit-index-url --no-emit-find-links "$@" > /dev/null
}
# Keeps the entries of a lock file whose names match ($2 = 1) or do not match ($2 = 0) a pattern.
keep() {
    python3 - "$@" <<'PYTHON'
import re
import sys
from pathlib import Path

file, wanted, pattern = Path(sys.argv[1]), sys.argv[2] == "1", re.compile(sys.argv[3])
entries = re.split(r"(?m)^(?=[a-z0-9#])", file.read_text())
file.write_text("".join(entry for entry in entries if entry and bool(pattern.match(entry)) == wanted))
PYTHON
}
libraries="torch==|triton==|nvidia-|cuda-|#"
# shellcheck disable=SC2046
locked pyproject.toml $(printf -- '--extra %s ' $extras) --output-file deploy/requirements.lock "$@"
keep deploy/requirements.lock 0 "$libraries"
echo "$torch" > "$folder/torch.in"
locked "$folder/torch.in" --constraints deploy/requirements.lock --output-file deploy/requirements-torch.lock "$@"
keep deploy/requirements-torch.lock 1 "$libraries"
grep -o "faiss-cpu[<>=0-9.,]*" pyproject.toml > "$folder/cpu.in"
{
    grep -o "faiss-gpu[<>=0-9.,]*" pyproject.toml
    printf '%s\n' "nvidia-cuda-runtime-cu12>=12.6,<13" "nvidia-cuda-nvrtc-cu12>=12.6,<13" \
        "nvidia-cublas-cu12>=12.6,<13" "nvidia-curand-cu12>=10.3.7,<11"
} > "$folder/cuda.in"
for variant in cpu cuda; do
    locked "$folder/$variant.in" --no-deps --output-file "deploy/requirements-$variant.lock" "$@"
done
locked deploy/llm/requirements.in --output-file deploy/llm/requirements.lock "$@"
