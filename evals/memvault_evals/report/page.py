"""The document as one page to read, print, keep and send, its charts in it: no script, no network."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memvault_evals.report.document import Document
from memvault_evals.report.reading import (
    FEW,
    FEW_MARK,
    change,
    columns,
    counts,
    headline,
    interval,
    labels_of,
    mark,
    names,
    short,
)
from memvault_evals.report.words import told

if TYPE_CHECKING:
    from memvault_evals.report.charts import Picture

PAGE, FIGURES = "report.html", "results.json"
TEMPLATES = Path(__file__).with_name("templates")


def write_report(folder: Path, document: Document) -> Path:
    """Write results.json, the charts and report.html into `folder`; return the path of the page."""
    from memvault_evals.report.charts import draw  # noqa: PLC0415 - matplotlib takes a second to load

    folder.mkdir(parents=True, exist_ok=True)
    (folder / FIGURES).write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    page = folder / PAGE
    page.write_text(render(document, draw(folder, document), folder), encoding="utf-8")
    return page


def render(document: Document, pictures: Sequence[Picture], folder: Path) -> str:
    """Return the page as HTML; `pictures` lie in `folder` and become part of it."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - only reports need it

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["short"] = short
    environment.filters["embedded"] = lambda file: _embedded(folder / file)
    return environment.get_template("page.html").render(
        document=document,
        few=FEW,
        few_mark=FEW_MARK,
        sets=[_section(document, name, pictures) for name in document["results"]],
        overview=[one for one in pictures if not one.set_name],
        headlines=list(_headlines(document)),
        settings={profile: list(_flat(values)) for profile, values in document["settings"].items()},
    )


def _embedded(picture: Path) -> str:
    """A PNG as the address of an image (RFC 2397)."""
    return f"data:image/png;base64,{b64encode(picture.read_bytes()).decode()}"


def _headlines(document: Document) -> Iterator[Mapping[str, str]]:
    for name, levels in document["results"].items():
        chosen = headline(name, levels)
        if chosen:
            level, metric = chosen
            one = levels[level][metric]
            yield {"set": name, "level": level, "metric": metric, "value": interval(one, mark(one)), "n": str(one["n"])}


def _section(document: Document, name: str, pictures: Sequence[Picture]) -> dict[str, Any]:
    wanted = columns(name, names(document["results"][name]))
    variants = {label: document["variants"][label] for label in labels_of(document, name)}
    first = document["first"]
    types = [
        (label, kind, level, counts(metrics, wanted), _cells(metrics, wanted))
        for label, variant in variants.items()
        for kind, levels in variant["by_type"].get(name, {}).items()
        for level, metrics in levels.items()
    ]
    return {
        "name": name,
        "columns": wanted,
        "whole": [
            (label, level, counts(metrics, wanted), _cells(metrics, wanted))
            for label, variant in variants.items()
            for level, metrics in variant["results"].get(name, {}).items()
        ],
        "types": [row for row in types if row[0] == first],
        "more_types": [row for row in types if row[0] != first],
        "differences": [
            (label, level, counts(metrics, wanted), _changes(metrics, wanted))
            for label, variant in variants.items()
            for level, metrics in variant["against_first"].get(name, {}).items()
        ],
        "facts": [
            (label, list(told(variant["facts"][name])))
            for label, variant in variants.items()
            if variant["facts"].get(name)
        ],
        "pictures": [one for one in pictures if one.set_name == name],
    }


def _cells(metrics: Mapping[str, Mapping[str, Any]], wanted: Sequence[str]) -> list[str]:
    return [interval(metrics[one], mark(metrics[one])) if one in metrics else "" for one in wanted]


def _changes(metrics: Mapping[str, Mapping[str, Any]], wanted: Sequence[str]) -> list[str]:
    return [change(metrics[one], mark(metrics[one])) if one in metrics else "" for one in wanted]


def _flat(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """Each number with its dotted path, as a settings file names it."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", json.dumps(value, ensure_ascii=False)
