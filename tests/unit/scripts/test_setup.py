"""What `make setup` and the commands that need data say, in a checkout that is not set up."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
LIMIT_S = 60
# makes .venv out of this Python, and instead of installing notes how often it was asked to
UV = f"""#!/bin/sh
if [ "$1" = venv ]; then
    mkdir -p .venv/bin && ln -s "{sys.executable}" .venv/bin/python
else
    echo "$*" >>asked
    printf '#!/bin/sh\\n' >.venv/bin/memvault && chmod +x .venv/bin/memvault
fi
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Only what setting up reads."""
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("scripts", "requirements"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("memvault", "services", "demo", "evals"):
        (tmp_path / name).mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "uv").write_text(UV, encoding="utf-8")
    (tmp_path / "bin" / "uv").chmod(0o755)
    return tmp_path


def run(checkout: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    path = f"{checkout / 'bin'}:/usr/local/bin:/usr/bin:/bin"
    environ = {"PATH": path, "PYTHON": sys.executable}
    return subprocess.run(
        words, cwd=checkout, env=environ, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )


def test_each_long_step_is_named_before_it_begins_and_the_end_says_what_to_do_next(checkout: Path) -> None:
    done = run(checkout, "sh", "scripts/setup.sh")
    assert done.returncode == 0, done.stderr
    making, packages, itself, end = done.stdout.splitlines()
    assert making.startswith("making .venv with ")
    assert "packages of requirements/dev" in packages
    assert "once" in packages
    assert itself == "installing memvault itself"
    assert end.startswith("set up in 0 min ")
    assert "make demo" in end
    assert "make test" in end


def test_who_is_set_up_already_is_told_so_in_one_line_and_nothing_is_installed(checkout: Path) -> None:
    run(checkout, "sh", "scripts/setup.sh")
    before = (checkout / "asked").read_text(encoding="utf-8")
    again = run(checkout, "sh", "scripts/setup.sh")
    assert again.returncode == 0
    assert len(again.stdout.splitlines()) == 1
    assert "already set up" in again.stdout
    assert (checkout / "asked").read_text(encoding="utf-8") == before


def test_a_changed_lock_is_installed_again(checkout: Path) -> None:
    run(checkout, "sh", "scripts/setup.sh")
    with (checkout / "requirements" / "dev.txt").open("a", encoding="utf-8") as lock:
        lock.write("# changed\n")
    assert "installing the" in run(checkout, "sh", "scripts/setup.sh").stdout


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
@pytest.mark.parametrize("target", ["eval", "peers", "fit"])
@pytest.mark.parametrize("data", ["", "DATA=not-there"])
def test_what_needs_data_says_so_before_anything_is_set_up(checkout: Path, target: str, data: str) -> None:
    done = run(checkout, "make", target, *filter(None, [data]))
    assert done.returncode == 2
    assert f"make {target} DATA=folder" in done.stderr
    assert done.stdout == ""
    assert not (checkout / ".venv").exists()
