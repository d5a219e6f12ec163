"""Generate the Python code of the contract from proto/, or with --check prove that the committed code is fresh.

Writes memvault/<contract>/v1/*_pb2.py, *_pb2.pyi, *_pb2_grpc.py and *_pb2_grpc.pyi, and an `__init__.py` into every
generated folder: without one an import rule that forbids the folder passes unseen.
"""

import argparse
import filecmp
import shutil
import sys
import sysconfig
import tempfile
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).resolve().parent.parent
PROTO = ROOT / "proto"
PACKAGE_NOTE = '"""Generated from proto/ by scripts/generate_proto.py; never edited."""\n'


def sources() -> list[Path]:
    """Return all proto files of the contract, sorted, relative to proto/."""
    return sorted(path.relative_to(PROTO) for path in PROTO.rglob("*.proto"))


def generate(target: Path) -> list[Path]:
    """Generate everything below `target` and return the files written, relative to it.

    Raises:
        SystemExit: When protoc refuses a file; it has printed why.
    """
    names = [str(name) for name in sources()]
    plugin = Path(sysconfig.get_path("scripts")) / "protoc-gen-mypy_grpc"
    well_known = str(files("grpc_tools") / "_proto")
    code = protoc.main(
        [
            "protoc",
            f"--proto_path={PROTO}",
            f"--proto_path={well_known}",
            f"--plugin=protoc-gen-mypy_grpc={plugin}",
            f"--python_out={target}",
            f"--pyi_out={target}",
            f"--grpc_python_out={target}",
            f"--mypy_grpc_out=quiet:{target}",
            *names,
        ]
    )
    if code != 0:
        raise SystemExit(code)
    for name in names:
        for folder in (target / name).parents:
            if folder == target / "memvault" or folder == target:
                break
            (folder / "__init__.py").write_text(PACKAGE_NOTE, encoding="utf-8")
    return sorted(path.relative_to(target) for path in target.rglob("*") if path.is_file())


def stale(fresh: Path, written: list[Path]) -> list[str]:
    """Return what differs between a fresh generation and the committed code, one line each."""
    wanted = set(written)
    complaints = [
        f"{name}: differs from proto/"
        for name in written
        if not (ROOT / name).is_file() or not filecmp.cmp(fresh / name, ROOT / name, shallow=False)
    ]
    present = {
        path.relative_to(ROOT)
        for version in (ROOT / "memvault").glob("*/v1")
        for path in (*version.iterdir(), version.parent / "__init__.py")
        if path.is_file()
    }
    return complaints + [f"{name}: has no source in proto/" for name in sorted(present - wanted)]


def main() -> int:
    """Generate, or check; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when the committed code is stale")
    check = parser.parse_args().check
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder)
        written = generate(fresh)
        if check:
            complaints = stale(fresh, written)
            print("\n".join(complaints) or f"generated code is fresh ({len(written)} files)")
            if complaints:
                print("run `make proto` and commit the result", file=sys.stderr)
            return 1 if complaints else 0
        for name in written:
            (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(fresh / name, ROOT / name)
    print(f"wrote {len(written)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
