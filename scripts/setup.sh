#!/bin/sh
# Makes .venv and installs the locked packages and memvault itself into it. Uses uv when it is there, else venv and pip.
set -eu
cd "$(dirname "$0")/.."

begin=$(date +%s)
made_of() { cat requirements/*.txt pyproject.toml | cksum; }
# The program is run, because a folder that was moved has programs that point to the old one.
if made_of | cmp -s - .venv/memvault-setup && .venv/bin/memvault --version >/dev/null 2>&1; then
    echo "already set up; to make .venv anew: make distclean setup"
    exit 0
fi

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
    echo "making .venv with $python: some seconds, once"
    if [ -n "$uv" ]; then
        "$uv" venv --quiet --clear --python "$python" .venv
    elif ! "$python" -m venv --clear .venv >.venv-log 2>&1; then
        echo "$python cannot make virtual environments: install its venv package (Debian and Ubuntu: python3-venv), or uv" >&2
        rm -rf .venv .venv-log
        exit 1
    fi
    rm -f .venv-log
fi

echo "installing the $(grep -c '^[A-Za-z0-9].*==' "$lock") packages of $lock: about 1.1 GB on the disk, some minutes, once"
if [ -n "$uv" ]; then
    "$uv" pip install --quiet --compile-bytecode --python .venv/bin/python --require-hashes -r "$lock"
    echo "installing memvault itself"
    "$uv" pip install --quiet --python .venv/bin/python --no-deps --no-build-isolation -e .
else
    .venv/bin/python -m pip install --quiet --require-hashes -r "$lock"
    echo "installing memvault itself"
    .venv/bin/python -m pip install --quiet --no-deps --no-build-isolation -e .
fi
# Our own modules too, and now: where Python is told to write no bytecode, each of the services would compile all of it
# at every start.
.venv/bin/python -m compileall -qq memvault services demo evals
made_of >.venv/memvault-setup
took=$(($(date +%s) - begin))
echo "set up in $((took / 60)) min $((took % 60)) s; what to do next: make demo shows memvault at work, make test checks it"
