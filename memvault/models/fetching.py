"""Fetches a model from a hub, only when somebody asks for it by name.

huggingface_hub knows the hub: what a repository holds, where its files are, who is asking. The bytes are taken here,
because its own downloads begin anew in every process: an unfinished file stays, the next try asks for the rest of it,
and a file takes its place only when its hash is the one that the hub told.
"""

import hashlib
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import httpx

from memvault.faults import Fault, Reason
from memvault.models.catalogue import Model
from memvault.models.shelf import WEIGHTS, missing_files

PATTERNS = ("*.json", WEIGHTS, "projector.safetensors", "*.txt", "*.jinja", "LICENSE*", "README.md")
"""What is fetched of a repository: no code, and no weights of other frameworks."""
TRIES, PAUSE_S, SILENCE_S = 5, 1.0, 60.0
_CHUNK_BYTES = 1 << 20
_SPARE_BYTES = 1 << 28  # left free on the disk

Progress = Callable[[int], None]
"""Told how many more bytes are there; fewer than none when a file has to begin anew."""


@dataclass(frozen=True, slots=True)
class File:
    """One file of an offer: its name, its bytes, where it is, and its hash, of SHA-256 or git's own of 40 digits."""

    name: str
    bytes: int
    url: str
    hash: str


@dataclass(frozen=True, slots=True)
class Offer:
    """What the hub holds of a model.

    Attributes:
        model: which one.
        revision: the commit that would be fetched.
        files: all that would be fetched.
        licence: as the hub's card says; empty: it says none.

    """

    model: Model
    revision: str
    files: tuple[File, ...]
    licence: str

    @property
    def bytes(self) -> int:
        """Of all files."""
        return sum(file.bytes for file in self.files)


def offered(model: Model, endpoint: str) -> Offer:
    """Ask the hub what it has; fetches nothing.

    Args:
        model: which one.
        endpoint: address of the hub; empty: the client's own.

    Raises:
        Fault: NO_MODEL when the client is missing or the hub cannot be reached.

    """
    hub, place = _client(), endpoint or None
    try:
        info = hub.HfApi(endpoint=place).model_info(model.repository, files_metadata=True)
    except Exception as error:
        raise _away(error) from error
    revision = str(info.sha)
    files = tuple(
        File(
            one.rfilename,
            one.size or 0,
            hub.hf_hub_url(model.repository, one.rfilename, revision=revision, endpoint=place),
            one.lfs.sha256 if one.lfs else str(one.blob_id or ""),
        )
        for one in info.siblings or []
        if _is_wanted(one.rfilename)
    )
    named = [tag.removeprefix("license:") for tag in info.tags or [] if tag.startswith("license:")]
    return Offer(model, revision, files, named[0] if named else "")


def _is_wanted(name: str) -> bool:
    """Tell whether a file belongs to the model itself; what lies in folders serves other frameworks."""
    return not {"/", "\\"} & set(name) and any(fnmatch(name, like) for like in PATTERNS)


def fetch(offer: Offer, folder: Path, progress: Progress = lambda _: None) -> None:
    """Fetch an offer into a folder; files that are there stay. Blocks.

    Raises:
        Fault: NO_MODEL when the disk has too little room, the hub cannot be reached, or something is missing after all.

    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _make_sure_of_room(offer, folder)
        headers = _client().utils.build_hf_headers()
        with httpx.Client(follow_redirects=True, timeout=SILENCE_S, headers=headers) as http:
            for file in offer.files:
                _file(http, file, folder, progress)
    except OSError as error:
        raise Fault(Reason.NO_MODEL, f"{folder} cannot be written ({error.strerror}): make it writable") from error
    missing = missing_files(offer.model, folder)
    if missing:
        message = f"{offer.model.repository} came without {', '.join(missing)}: set the folder of another copy"
        raise Fault(Reason.NO_MODEL, message)


def _file(http: httpx.Client, file: File, folder: Path, progress: Progress) -> None:
    target = folder / file.name
    if target.is_file() and target.stat().st_size == file.bytes:
        progress(file.bytes)
        return
    part = folder / f".{file.name}.{file.hash[:12]}.part"
    progress(part.stat().st_size if part.exists() else 0)
    for left in reversed(range(TRIES)):
        try:
            _rest(http, file, part, progress)
            break
        except httpx.HTTPError as error:
            refused = isinstance(error, httpx.HTTPStatusError) and error.response.is_client_error
            if refused or not left:
                raise _away(error) from error
            time.sleep(PAUSE_S)
    if not _is_whole(part, file):
        part.unlink()
        raise Fault(Reason.NO_MODEL, f"{file.name} came damaged and was thrown away: run the command again")
    part.replace(target)


def _rest(http: httpx.Client, file: File, part: Path, progress: Progress) -> None:
    """Ask for what is missing of a file, from its last byte on."""
    begin = part.stat().st_size if part.exists() else 0
    if begin >= file.bytes > 0:
        return
    with http.stream("GET", file.url, headers={"Range": f"bytes={begin}-"} if begin else {}) as answer:
        answer.raise_for_status()
        if begin and answer.status_code != httpx.codes.PARTIAL_CONTENT:
            progress(-begin)
            begin = 0
        with part.open("ab" if begin else "wb") as sink:
            for chunk in answer.iter_raw():  # as they come: gathered ones would be lost when it breaks off
                sink.write(chunk)
                progress(len(chunk))


def _is_whole(part: Path, file: File) -> bool:
    """Tell whether a file has the hash that was told; git hashes a small file together with its length."""
    size = part.stat().st_size
    git = len(file.hash) == hashlib.sha1(usedforsecurity=False).digest_size * 2
    digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False) if git else hashlib.sha256()
    with part.open("rb") as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            digest.update(chunk)
    return size == file.bytes and digest.hexdigest() == file.hash


def _make_sure_of_room(offer: Offer, folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    there = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    needed = offer.bytes + _SPARE_BYTES - there
    if free < needed:
        message = f"{folder} has {free / 1e9:.1f} GB free, {needed / 1e9:.1f} GB are needed: make room"
        raise Fault(Reason.NO_MODEL, message)


def _client() -> Any:  # noqa: ANN401 - a package without types of ours
    try:
        import huggingface_hub  # noqa: PLC0415 - a second, and needed by this command only
    except ImportError as error:
        message = "the package huggingface_hub is missing: run `pip install huggingface_hub`"
        raise Fault(Reason.NO_MODEL, message) from error
    return huggingface_hub


def _away(error: Exception) -> Fault:
    told = str(error).strip().splitlines()
    reason = told[0] if told else type(error).__name__
    message = f"the hub did not give the model ({reason}): check the connection, then run the command again"
    return Fault(Reason.NO_MODEL, message)
