"""`make demo` as a user runs it: from nothing to answers and back to nothing, or one clear line that says why not."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from memvault.runtime.exits import Exit
from memvault_demo.questions import NEXT_QUESTION, PREDICTED, QUESTIONS
from tests.house import MODELS, VECTORS, free_port

DEMO_LIMIT_S = 500
CHEAP_LIMIT_S = 60
FIND_PYTHON = Path(__file__).parents[2] / "scripts" / "find_python.sh"


def demo(home: Path, *, http_port: int, limit_s: float) -> subprocess.CompletedProcess[str]:
    environ = os.environ | {
        "MEMVAULT_HOME": str(home),
        "MEMVAULT__HTTP__ADDRESS": f"127.0.0.1:{http_port}",
        "MEMVAULT__ADDRESSES__GATEWAY": f"127.0.0.1:{free_port()}",
        "MEMVAULT__SEARCH__EMBEDDER__CACHE_FOLDER": VECTORS.name,
        "COLUMNS": "200",
    }
    command = [sys.executable, "-m", "memvault_demo"]
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=limit_s, check=False)


def processes_that_name(path: Path) -> list[str]:
    """Command lines of processes that have the path in their command or environment."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words, environ = (entry / "cmdline").read_bytes(), (entry / "environ").read_bytes()
        except OSError:
            continue  # it has ended, or is somebody else's
        if str(path).encode() in words + environ and entry.name != str(os.getpid()):
            found.append(words.replace(b"\0", b" ").decode(errors="replace"))
    return found


@pytest.mark.slow
@pytest.mark.timeout(DEMO_LIMIT_S + 60)
@pytest.mark.r("R-50a", "R-53", "R-54")
def test_the_demo_answers_its_questions_one_of_them_beforehand_and_leaves_nothing_behind(tmp_path: Path) -> None:
    home = tmp_path / "demo-home"
    home.mkdir()
    MODELS.mkdir(parents=True, exist_ok=True)
    (home / "models").symlink_to(MODELS)  # as any other test: nothing is downloaded twice
    done = demo(home, http_port=free_port(), limit_s=DEMO_LIMIT_S)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    for question in QUESTIONS:
        assert question.text in done.stdout
    predicted, asked = done.stdout.index(PREDICTED), done.stdout.rindex(NEXT_QUESTION)
    assert predicted < asked
    assert "prepared candidates" in done.stdout[asked:], done.stdout[asked:]
    assert done.stdout.count("prepared candidates") == 1
    assert "Everything is stopped" in done.stdout
    assert processes_that_name(home) == []
    assert [entry.name for entry in home.iterdir()] == ["models"]


def test_a_port_that_is_taken_is_told_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = demo(tmp_path / "home", http_port=port, limit_s=CHEAP_LIMIT_S)
    assert done.returncode == Exit.PORT_TAKEN, done
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert f"127.0.0.1:{port}" in done.stderr
    assert "MEMVAULT__HTTP__ADDRESS" in done.stderr
    assert done.stdout.rstrip().endswith("$ memvault up")
    assert "Traceback" not in done.stdout
    assert processes_that_name(tmp_path / "home") == []


def test_a_folder_that_cannot_be_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = demo(tmp_path / "file" / "home", http_port=free_port(), limit_s=CHEAP_LIMIT_S)
    assert done.returncode == Exit.FOLDER, done
    assert done.stderr == ""
    assert "set MEMVAULT_HOME to a folder you may write to" in " ".join(done.stdout.split())
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize(("minor", "seen"), [(9, "Python 3.9"), (14, "Python 3.14")])
def test_an_interpreter_that_is_too_old_or_too_new_is_told_in_one_line(tmp_path: Path, minor: int, seen: str) -> None:
    fake = tmp_path / "python3"
    fake.write_text(
        "#!/bin/sh\n"
        f'exec "{sys.executable}" -c "import sys; sys.version_info = (3, {minor}, 0); '
        "sys.argv = ['-c']; exec(compile('''$2''', 'given', 'exec'))\"\n"
    )
    fake.chmod(0o755)
    environ = os.environ | {"PYTHON": str(fake)}
    done = subprocess.run(
        ["sh", str(FIND_PYTHON)],
        env=environ,
        capture_output=True,
        text=True,
        timeout=CHEAP_LIMIT_S,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert f"memvault needs Python 3.11 to 3.13, found {seen}" in done.stderr


def test_an_interpreter_that_is_not_there_is_told_in_one_line(tmp_path: Path) -> None:
    environ = os.environ | {"PYTHON": str(tmp_path / "no-python")}
    done = subprocess.run(
        ["sh", str(FIND_PYTHON)],
        env=environ,
        capture_output=True,
        text=True,
        timeout=CHEAP_LIMIT_S,
        check=False,
    )
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "found no usable Python" in done.stderr
