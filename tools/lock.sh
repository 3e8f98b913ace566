#!/bin/sh
# Pin every version anew: requirements.lock for students, -dev for tests, -ci for all that CI tests
# (gradebooks, a cluster, the compiler), -gpu for a GPU. Needs uv.
set -eu
cd "$(dirname "$0")/.."

compile() { # extra, lock, constraints; the extra is left unquoted, as it may be no word at all
    uv pip compile pyproject.toml $1 --output-file "$2" --constraint "$3" --upgrade --quiet \
        --universal --python-version 3.11 --no-header --no-annotate --no-emit-index-url
}

# One environment serves them all, so the newest NumPy is the one that numba accepts.
limits=$(mktemp)
trap 'rm -f "$limits"' EXIT
printf '%s\n' 'numpy<2.5' 'pint<0.26' >"$limits"
compile "" requirements.lock "$limits"
compile "--extra dev" requirements-dev.lock requirements.lock
compile "--extra dev --extra compile --extra nbgrader --extra cluster --extra ci" requirements-ci.lock requirements-dev.lock
compile "--extra gpu" requirements-gpu.lock requirements-dev.lock
