#!/bin/sh
# Makes .venv and installs the locked packages and memvault itself into it. Uses uv when it is there, else venv and pip.
set -eu
cd "$(dirname "$0")/.."

python=$(sh scripts/find_python.sh)
export UV_PYTHON_DOWNLOADS=never PIP_DISABLE_PIP_VERSION_CHECK=1
lock=requirements/dev.txt
if "$python" - <<'PYTHON'
import platform, sys
name, version = platform.libc_ver()
sys.exit(name != "glibc" or [int(part) for part in version.split(".")[:2]] < [2, 35])
PYTHON
then
    lock=requirements/dev-mlx.txt # older systems have no wheels of MLX, and do without the tests of its adapters
fi
uv=$(command -v uv || true)

if ! PYTHON=.venv/bin/python sh scripts/find_python.sh >/dev/null 2>&1; then
    echo "making .venv with $python"
    if [ -n "$uv" ]; then
        "$uv" venv --quiet --clear --python "$python" .venv
    elif ! "$python" -m venv --clear .venv >.venv-log 2>&1; then
        echo "$python cannot make virtual environments: install its venv package (Debian and Ubuntu: python3-venv), or uv" >&2
        rm -rf .venv .venv-log
        exit 1
    fi
    rm -f .venv-log
fi

echo "installing the packages of $lock"
if [ -n "$uv" ]; then
    "$uv" pip install --quiet --compile-bytecode --python .venv/bin/python --require-hashes -r "$lock"
    "$uv" pip install --quiet --python .venv/bin/python --no-deps --no-build-isolation -e .
else
    .venv/bin/python -m pip install --quiet --require-hashes -r "$lock"
    .venv/bin/python -m pip install --quiet --no-deps --no-build-isolation -e .
fi
# Our own modules too, and now: where Python is told to write no bytecode, each of the services would compile all of it
# at every start.
.venv/bin/python -m compileall -qq memvault services demo evals
cat requirements/*.txt pyproject.toml | cksum >.venv/memvault-setup
