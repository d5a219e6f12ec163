import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from memvault.runtime.folder import (
    AlreadyRunningError,
    Folder,
    FolderError,
    Identity,
    ProcessState,
    State,
    end_leftovers,
    read_state,
    write_state,
)


def state(**processes: ProcessState) -> State:
    return State(1, 2.0, "six", "http://h:1", "h:2", "nats://h:3", "redis://h:4", processes=processes)


def test_a_folder_that_may_not_be_written_to_says_so_in_one_line(tmp_path: Path):
    root = tmp_path / "sealed"
    root.mkdir(mode=0o555)
    if os.geteuid() == 0:
        tmp_path.chmod(0o755)
        tmp_path.parent.chmod(0o755)
        os.seteuid(65534)
    try:
        with pytest.raises(FolderError) as error:
            Folder(root).prepare()
    finally:
        if os.getuid() == 0:
            os.seteuid(0)
    assert len(str(error.value).splitlines()) == 1
    assert "Permission denied" in str(error.value)
    assert "set MEMVAULT_HOME" in str(error.value)


def test_a_folder_that_is_made_is_for_its_owner_alone_and_one_that_is_there_stays_as_it_is(tmp_path: Path):
    made, known = Folder(tmp_path / "above" / "made"), Folder(tmp_path / "known")
    known.root.mkdir()
    known.root.chmod(0o755)
    before = os.umask(0o022)
    try:
        for folder in (made, made, known):
            folder.prepare()
    finally:
        os.umask(before)
    assert [folder.root.stat().st_mode & 0o777 for folder in (made, known)] == [0o700, 0o755]
    assert (tmp_path / "above").stat().st_mode & 0o777 == 0o755
    assert [folder.open_to() for folder in (made, known)] == ["", "group and others"]
    known.root.chmod(0o750)
    assert known.open_to() == "group"


def test_only_one_can_hold_the_folder(tmp_path: Path):
    folder = Folder(tmp_path)
    folder.prepare()
    assert not folder.held()
    with folder.locked():
        assert folder.held()
        with pytest.raises(AlreadyRunningError), Folder(tmp_path).locked():
            pass
    assert not folder.held()


def test_the_state_file_comes_back_as_it_was_written(tmp_path: Path):
    folder = Folder(tmp_path)
    folder.prepare()
    written = state(search=ProcessState("h:5", "abc", 77, 3.5, "ready", 2))
    write_state(folder, written)
    assert read_state(folder) == written


@pytest.mark.parametrize("content", ["", "{", "[]", '{"supervisor": 1}', '{"processes": {"x": {"color": 1}}}'])
def test_a_broken_state_file_counts_as_none(tmp_path: Path, content: str):
    folder = Folder(tmp_path)
    folder.prepare()
    folder.state_file.write_text(content)
    assert read_state(folder) is None


def test_only_the_very_process_that_was_recorded_is_ended():
    sleeper = [sys.executable, "-c", "import time; time.sleep(60)"]
    ours, stranger = subprocess.Popen(sleeper), subprocess.Popen(sleeper)
    recorded = state(
        search=ProcessState("", pid=ours.pid, started=psutil.Process(ours.pid).create_time()),
        router=ProcessState("", pid=stranger.pid, started=psutil.Process(stranger.pid).create_time() - 100),
        cascade=ProcessState("", pid=0),
    )
    assert end_leftovers(recorded, grace_s=5) == [ours.pid]
    assert stranger.poll() is None
    assert not psutil.pid_exists(ours.pid)
    ours.wait()
    stranger.kill()
    stranger.wait()


def test_a_process_that_ignores_the_request_to_stop_is_killed():
    script = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    stubborn = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert stubborn.stdout is not None
    stubborn.stdout.readline()
    recorded = state(search=ProcessState("", pid=stubborn.pid, started=psutil.Process(stubborn.pid).create_time()))
    end_leftovers(recorded, grace_s=0.3)
    assert not psutil.pid_exists(stubborn.pid)
    stubborn.wait()
    stubborn.stdout.close()


def test_an_identity_is_not_found_once_its_process_has_ended():
    own = Identity.of(os.getpid())
    assert own.find() is not None
    assert Identity(own.pid, own.started - 10).find() is None
