"""What the architecture tests look at: the tracked files of the repository, and their syntax trees."""

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SERVICES = ("gateway", "router", "search", "rerank", "cascade", "slow_thinker")
LOCAL_ONLY = (
    ".venv",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".import_linter_cache",
    ".hypothesis",
)


def package(service: str) -> Path:
    """The package folder of a service."""
    return ROOT / "services" / service / f"memvault_{service}"


@cache
def tracked() -> tuple[Path, ...]:
    """Every file that belongs to the repository: tracked, or new and not ignored."""
    command = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, capture_output=True, check=False)
    if listed.returncode != 0:  # a source archive has no git
        return tuple(path for path in ROOT.rglob("*") if path.is_file() and not set(path.parts) & set(LOCAL_ONLY))
    names = listed.stdout.decode().split("\0")
    return tuple(ROOT / name for name in names if name and (ROOT / name).is_file())


def is_generated(path: Path) -> bool:
    """Whether protoc wrote it."""
    parts = path.relative_to(ROOT).parts
    return (
        parts[0] == "memvault"
        and len(parts) > 2
        and (parts[2] == "v1" or (ROOT / "memvault" / parts[1] / "v1").is_dir())
    )


def sources() -> Iterator[Path]:
    """The hand-written Python files of the product, tests apart."""
    for path in tracked():
        top = path.relative_to(ROOT).parts[0]
        if (
            path.suffix == ".py"
            and top in {"memvault", "services", "demo", "evals", "scripts"}
            and not is_generated(path)
        ):
            yield path


@cache
def tree(path: Path) -> ast.Module:
    """The file's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imported_modules(path: Path) -> set[str]:
    """The dotted names that the file imports, `from a import b` counting as `a` and `a.b`."""
    found: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def shown(path: Path) -> str:
    """The path as the reader knows it."""
    return str(path.relative_to(ROOT))
