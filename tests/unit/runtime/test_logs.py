import asyncio
import io
from pathlib import Path

from memvault.runtime.folder import Folder
from memvault.runtime.logs import Log


async def pump(log: Log, data: bytes) -> None:
    stream = asyncio.StreamReader()
    stream.feed_data(data)
    stream.feed_eof()
    await log.pump("search", stream)


async def test_lines_go_to_the_file_with_their_time_and_to_the_terminal_with_their_name(tmp_path: Path):
    folder = Folder(tmp_path)
    folder.prepare()
    terminal = io.StringIO()
    log = Log(folder, 1000, terminal, width=8)
    await pump(log, "one 茶\ntwo".encode())
    log.note("search", "ready")
    log.close()
    lines = log.path("search").read_text().splitlines()
    assert [line.split(" ", 1)[1] for line in lines] == ["one 茶", "two", "[supervisor] ready"]
    assert terminal.getvalue().splitlines() == ["search   | one 茶", "search   | two", "search   | [supervisor] ready"]
    assert log.last("search") == "two"


async def test_a_line_without_an_end_or_with_bytes_that_are_no_text_is_written_too(tmp_path: Path):
    folder = Folder(tmp_path)
    folder.prepare()
    log = Log(folder, 1_000_000)
    await pump(log, b"x" * 200_000 + b"\xff\n")
    log.close()
    assert len(log.path("search").read_text()) > 200_000


async def test_a_file_that_grew_too_large_is_put_aside_at_the_next_start(tmp_path: Path):
    folder = Folder(tmp_path)
    folder.prepare()
    for text in (b"old" * 100, b"new"):
        log = Log(folder, 100)
        await pump(log, text)
        log.close()
    assert log.path("search").read_text().endswith("new\n")
    assert log.path("search").with_suffix(".log.1").read_text().endswith("old\n")


async def test_a_file_that_grows_too_large_is_put_aside_while_its_process_runs(tmp_path: Path):
    folder = Folder(tmp_path)
    folder.prepare()
    log = Log(folder, 1000)
    await pump(log, "".join(f"line {number} 茶\n" for number in range(500)).encode())
    log.close()
    now, before = log.path("search"), log.path("search").with_suffix(".log.1")
    assert sorted(folder.logs.glob("search*")) == [now, before]
    assert max(now.stat().st_size, before.stat().st_size) <= 1000
    kept = [line.split()[2] for path in (before, now) for line in path.read_text().splitlines()]
    assert kept == [str(number) for number in range(500 - len(kept), 500)]


async def test_one_process_that_talks_much_moves_no_other_log(tmp_path: Path):
    folder = Folder(tmp_path)
    folder.prepare()
    log = Log(folder, 200)
    log.note("router", "ready")
    await pump(log, b"much\n" * 100)
    log.close()
    assert not log.path("router").with_suffix(".log.1").exists()
    assert log.path("router").read_text().endswith("ready\n")
