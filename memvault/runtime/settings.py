"""Where numbers come from: `defaults.toml` < `MEMVAULT_HOME/config.toml` < environment.

A section is a dotted path (`search`, `search.scoring`). For the tuned profile `[tuned.<section>]` lies over
`[<section>]`
in each file. An environment variable `MEMVAULT__<SECTION>__<KEY>` sets one key, `__` descending into tables.
"""

import json
import os
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, cast, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

Profile = Literal["reference", "tuned"]
M = TypeVar("M", bound=BaseModel)

PREFIX = "MEMVAULT__"
DEFAULTS = Path(__file__).parent.parent / "defaults.toml"
CONFIG_NAME = "config.toml"


class SettingsError(Exception):
    """A setting cannot be used; the message names the file or variable, the key, and what to do."""


class FrozenSettings(BaseModel):
    """Base for a section's model: immutable, and refusing keys it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def home(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder that holds all data: `MEMVAULT_HOME`, or `~/.memvault`."""
    configured = (os.environ if environ is None else environ).get("MEMVAULT_HOME", "")
    return Path(configured).expanduser() if configured else Path.home() / ".memvault"


def defaults(profile: Profile) -> dict[str, Any]:
    """Return the packaged numbers of one profile, without user configuration."""
    return _merge_profile(_packaged(), profile)


def active_profile(*, home_folder: Path | None = None, environ: Mapping[str, str] | None = None) -> Profile:
    """Return the profile in force: `MEMVAULT__PROFILE`, else `profile` in config.toml, else the packaged one.

    Raises:
        SettingsError: When it is neither `reference` nor `tuned`.
    """
    env = os.environ if environ is None else environ
    folder = home(env) if home_folder is None else home_folder
    chosen = env.get(f"{PREFIX}PROFILE") or _user_file(folder).get("profile") or _packaged().get("profile", "tuned")
    if chosen not in {"reference", "tuned"}:
        raise SettingsError(f'profile is {chosen!r}: set it to "reference" or "tuned"')
    return cast("Profile", chosen)


def load(
    section: str,
    model: type[M],
    *,
    profile: Profile | None = None,
    home: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> M:
    """Read one section into a frozen model.

    Args:
        section: Dotted path of the table, for example `search.scoring`.
        model: A pydantic model with `frozen=True, extra="forbid"`.
        profile: Which numbers; None means the profile in force.
        home: The folder with config.toml; None means `MEMVAULT_HOME`.
        environ: The environment; None means the process's own.

    Raises:
        SettingsError: When a file is no TOML, a section or key is unknown, or a value does not fit.
        TypeError: When the model is not frozen or accepts unknown keys.
    """
    if not (model.model_config.get("frozen") and model.model_config.get("extra") == "forbid"):
        raise TypeError(f"{model.__name__} needs model_config = ConfigDict(frozen=True, extra='forbid')")
    env = os.environ if environ is None else environ
    folder = _home(env) if home is None else home
    chosen = profile or active_profile(home_folder=folder, environ=env)
    user = _user_file(folder)
    _refuse_unknown_sections(user, folder / CONFIG_NAME)
    values = _overlay(_section(defaults(chosen), section), _section(_merge_profile(user, chosen), section))
    values = _overlay(values, _from_environment(section, values, env))
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise SettingsError(_explain(error, section, user, folder / CONFIG_NAME, env)) from error


def load_profiles(section: str, model: type[M]) -> dict[Profile, M]:
    """Read one section once for each profile; errors as in `load`."""
    return {profile: load(section, model, profile=profile) for profile in get_args(Profile)}


_home = home  # `load` has a parameter of this name


@cache
def _packaged() -> dict[str, Any]:
    return _parse(DEFAULTS)


def _user_file(folder: Path) -> dict[str, Any]:
    path = folder / CONFIG_NAME
    return _parse(path) if path.is_file() else {}


def _parse(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid TOML ({error}): correct the file") from error
    except OSError as error:
        raise SettingsError(
            f"{path} cannot be read ({error.strerror}): check that it exists and its permissions"
        ) from error


def _merge_profile(document: Mapping[str, Any], profile: Profile) -> dict[str, Any]:
    base = {key: value for key, value in document.items() if key not in {"tuned", "profile"}}
    return _overlay(base, document.get("tuned", {})) if profile == "tuned" else base


def _overlay(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        known = merged.get(key)
        merged[key] = _overlay(known, value) if isinstance(known, dict) and isinstance(value, dict) else value
    return merged


def _section(document: Mapping[str, Any], section: str) -> dict[str, Any]:
    found: Any = document
    for part in section.split("."):
        found = found.get(part, {}) if isinstance(found, dict) else {}
    return found if isinstance(found, dict) else {}


def _refuse_unknown_sections(user: Mapping[str, Any], path: Path) -> None:
    known = set(_packaged()) | {"tuned", "profile"}
    for name in (*user, *user.get("tuned", {})):
        if name not in known:
            raise SettingsError(
                f"{path}: no section named [{name}]; remove it, or use one of {', '.join(sorted(known))}"
            )


def _from_environment(section: str, values: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    prefix = _variable(section) + "__"
    found: dict[str, Any] = {}
    for name, text in environ.items():
        if not name.startswith(prefix):
            continue
        *tables, key = name.removeprefix(prefix).lower().split("__")
        target, known = found, values
        for table in tables:
            target = target.setdefault(table, {})
            below = known.get(table, {})
            known = below if isinstance(below, dict) else {}
        target[key] = _value(name, text, structured=isinstance(known.get(key), list | dict))
    return found


def _value(name: str, text: str, *, structured: bool) -> object:
    if not structured:
        return text  # pydantic turns text into numbers and switches, and says so when it cannot
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise SettingsError(f"{name} is not valid JSON ({error}): write a list or a table as JSON") from error


def _variable(section: str) -> str:
    return PREFIX + section.upper().replace(".", "__")


def _explain(
    error: ValidationError, section: str, user: Mapping[str, Any], path: Path, environ: Mapping[str, str]
) -> str:
    lines = []
    for problem in error.errors(include_url=False):
        keys = [str(part) for part in problem["loc"]]
        variable = "__".join([_variable(section), *(key.upper() for key in keys)])
        tables = ".".join([section, *keys[:-1]])
        in_file = bool(keys) and keys[-1] in _section(_overlay(user, user.get("tuned", {})), tables)
        where = variable if variable in environ else str(path) if in_file else str(DEFAULTS)
        advice = "remove it" if problem["type"] == "extra_forbidden" else f"correct it there, or set {variable}"
        given = "" if problem["type"] == "missing" else f" (given: {problem.get('input')!r})"
        lines.append(f"{where}: [{section}] {'.'.join(keys)}: {problem['msg']}{given}: {advice}")
    return "\n".join(lines)
