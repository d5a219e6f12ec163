"""Charts and the page of a run."""

import json
from base64 import b64decode
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from memvault_evals.report.charts import draw
from memvault_evals.report.document import document
from memvault_evals.report.page import write_report
from tests.unit.evals.invented_run import ABOUT, PLACES, intents, many_kinds, run_of

PNG = b"\x89PNG\r\n\x1a\n"
SHARES = {"tuned": 0.75, "tuned -rerank": 0.5, "reference": 0.6}


class Reader(HTMLParser):
    """Keeps the elements of a page, and complains about what is left open."""

    VOID = frozenset({"meta", "img", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, tag: str) -> Iterator[dict[str, str | None]]:
        return (attributes for name, attributes in self.elements if name == tag)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], Reader]:
    run = run_of(SHARES, others=True)
    page = write_report(tmp_path_factory.mktemp("report") / "new", run)
    return page, run, Reader(page.read_text(encoding="utf-8"))


def test_the_figures_lie_beside_the_page_and_are_the_document(report: tuple[Path, dict[str, Any], Reader]) -> None:
    page, run, _ = report
    assert page.name == "report.html"
    assert json.loads((page.parent / "results.json").read_text(encoding="utf-8")) == run


def test_every_chart_is_a_png_that_the_page_shows_with_words_for_who_cannot_see_it(
    report: tuple[Path, dict[str, Any], Reader],
) -> None:
    page, _, reader = report
    images = list(reader.all("img"))
    assert {one["data-file"] for one in images} == {path.name for path in page.parent.glob("*.png")}
    for one in images:
        head, _, content = one["src"].partition(",")
        assert head == "data:image/png;base64"
        assert b64decode(content) == (page.parent / one["data-file"]).read_bytes()
    assert {"sets.png", "locomo-types.png", "locomo-ablation.png", "intent-reliability.png"} < {
        one["data-file"] for one in images
    }
    assert {"injection-TPR.png", "injection-FPR.png", "prefetch_kdconv-hits.png"} < {one["data-file"] for one in images}
    assert all((page.parent / str(one["data-file"])).read_bytes().startswith(PNG) for one in images)
    ablation = next(one for one in images if one["data-file"] == "locomo-ablation.png")
    assert "tuned -rerank -25.0 [-" in str(ablation["alt"])


def test_the_page_needs_no_script_and_no_network(report: tuple[Path, dict[str, Any], Reader]) -> None:
    _, _, reader = report
    assert reader.open == []
    assert not {"script", "link", "iframe"} & {tag for tag, _ in reader.elements}
    values = [str(value) for _, attributes in reader.elements for value in attributes.values()]
    assert all(value.startswith("data:image/png;base64,") or "//" not in value for value in values)


def test_tables_have_captions_and_their_headings_a_scope(report: tuple[Path, dict[str, Any], Reader]) -> None:
    _, _, reader = report
    assert sum(1 for _ in reader.all("caption")) == sum(1 for _ in reader.all("table"))
    assert all(one.get("scope") in {"row", "col"} for one in reader.all("th"))


def test_the_page_says_where_the_figures_come_from(report: tuple[Path, dict[str, Any], Reader]) -> None:
    page, run, _ = report
    text = page.read_text(encoding="utf-8")
    for one in (run["commit"], run["command"], run["load"], "numpy 2.4.6", "abcdef0123456789", "search.fusion.k"):
        assert one in text
    assert "prefers-color-scheme: dark" in text
    assert "75.0 [" in text


def test_names_from_outside_cannot_become_markup(tmp_path: Path) -> None:
    text = write_report(tmp_path, run_of({"tuned <b>x</b>": 0.5})).read_text(encoding="utf-8")
    assert "<b>" not in text
    assert "tuned &lt;b&gt;x&lt;/b&gt;" in text


def test_the_same_run_gives_the_same_page_and_charts(tmp_path: Path) -> None:
    run = run_of({"tuned": 0.75, "tuned -rerank": 0.5})
    one, other = write_report(tmp_path / "one", run).parent, write_report(tmp_path / "other", run).parent
    assert {path.name: path.read_bytes() for path in one.iterdir()} == {
        path.name: path.read_bytes() for path in other.iterdir()
    }


def test_a_run_with_one_variant_and_no_facts_draws_no_comparison(tmp_path: Path) -> None:
    assert [one.file for one in draw(tmp_path, run_of({"tuned": 0.75}))] == ["locomo-types.png"]


def test_a_single_figure_gets_no_picture(tmp_path: Path) -> None:
    run = run_of({"tuned": 0.75, "tuned -rerank": 0.5})
    assert [one.file for one in draw(tmp_path, run)] == ["sets.png", "locomo-types.png"]
    alone = document({"tuned": {"intent": intents(bins=1)}}, ABOUT)
    assert draw(tmp_path, alone) == []
    assert [one.file for one in draw(tmp_path, document({"tuned": {"intent": intents()}}, ABOUT))] == [
        "intent-reliability.png"
    ]


def test_every_type_stands_in_the_page_and_few_items_are_marked(tmp_path: Path) -> None:
    run = document({"tuned": {"injection": many_kinds()}}, ABOUT)
    text = write_report(tmp_path, run).read_text(encoding="utf-8")
    assert all(f">kind{number}<" in text for number in range(PLACES, PLACES + 30))
    assert "100 ~[100, 100]" in text
    assert "~ marks an interval over fewer than 30 items" in text
    assert "<code>docs/quality.md</code>" in text


def test_what_else_was_found_is_told_in_phrases(report: tuple[Path, dict[str, Any], Reader]) -> None:
    page, _, _ = report
    assert "<li>answers that were reranked: 30 (75%)</li>" in page.read_text(encoding="utf-8")
