#!/bin/sh
# Builds and checks a release of the commit that is checked out, in the folder given or dist/, and uploads nothing:
# wheels and source archives of both distributions, their SBOMs (CycloneDX), and PROVENANCE.txt. Then, with a token:
#   git tag vVERSION && uv publish dist/*.whl dist/*.tar.gz
set -eu
out=$(mkdir -p "${1:-dist}" && cd "${1:-dist}" && pwd)
cd "$(dirname "$0")/.."
test -z "$(git status --porcelain)" || { echo "There are uncommitted changes." >&2; exit 1; }
test -z "$(ls "$out")" || { echo "$out is not empty." >&2; exit 1; }
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/tools"
"$work/tools/bin/pip" install --quiet build twine uv cyclonedx-bom
mkdir "$work/source"
git archive HEAD | tar -x -C "$work/source"
for project in "$work/source" "$work/source/client"; do
    PATH="$work/tools/bin:$PATH" "$work/tools/bin/python" -m build --installer uv --outdir "$out" "$project"
done
"$work/tools/bin/twine" check --strict "$out"/*
for wheel in "$out"/*.whl; do
    # Each wheel alone, in a fresh environment, so that its dependencies must come from the index.
    "$work/tools/bin/uv" venv --quiet "$work/installed"
    "$work/tools/bin/uv" pip install --quiet --python "$work/installed/bin/python" "$wheel"
    "$work/tools/bin/cyclonedx-py" environment --output-reproducible "$work/installed/bin/python" \
        --output-file "$out/$(basename "$wheel" | cut -d- -f1).cdx.json"
    test ! -x "$work/installed/bin/assayer" || "$work/installed/bin/assayer" --version
    rm -rf "$work/installed"
done
"$work/tools/bin/uv" publish --dry-run "$out"/*.whl "$out"/*.tar.gz
{
    echo "commit $(git rev-parse HEAD), committed $(git log -1 --format=%cI), tags: $(git tag --points-at HEAD | xargs)"
    echo "built by $(python3 --version) on $(uname -sm): deploy/release.sh, SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH"
    "$work/tools/bin/pip" list --format=freeze
    (cd "$out" && sha256sum -- *.whl *.tar.gz *.cdx.json)
} > "$out/PROVENANCE.txt"
cat "$out/PROVENANCE.txt"
