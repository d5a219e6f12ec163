"""What `docs/data.md` says about the files of a set is what is read."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memvault_evals.datasets import SETS, Data, read_set
from memvault_evals.suites import SUITES
from memvault_evals.suites.conversations import KDCONV, MTRAG, read_blocks, read_conversations
from memvault_evals.suites.follow_up import NEXT
from memvault_evals.suites.injection import read_samples
from memvault_evals.suites.intent import read_texts

PAGE = Path(__file__).parents[3] / "docs" / "data.md"
EXAMPLE = re.compile(r"^`((?:dev|corpora)/\S+\.jsonl)`\n\n((?: {4}\{.*\n)+)", re.MULTILINE)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    """The page's examples, in the folder that it describes."""
    folder = tmp_path_factory.mktemp("page")
    for name, lines in EXAMPLE.findall(PAGE.read_text(encoding="utf-8")):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{line[4:]}\n" for line in lines.splitlines()), encoding="utf-8")
    return Data(folder / "dev", folder / "corpora")


@pytest.mark.parametrize("name", ["locomo", "madial_zh", "musique", "musique_openie"])
def test_each_shape_of_memories_and_questions_has_an_example_that_is_read(name: str, data: Data) -> None:
    (scope,) = read_set(data, name)
    known = {block["id"] for block in scope.blocks}
    assert scope.queries
    assert all(query.gold and query.gold <= known for query in scope.queries)
    assert bool(scope.session_of) == SETS[name].sessions
    if SETS[name].titled:
        assert all(block["title"] for block in scope.blocks)
    assert any("triples" in block for block in scope.blocks) == SETS[name].triples


def test_texts_of_the_classifying_suites_are_read(data: Data) -> None:
    run: Any = SimpleNamespace(data=data)
    assert {text.levels[0] for text in read_texts(run) if text.source != "own"} == {"en", "zh"}
    assert [sample.attack for sample in read_samples(run)] == [True, False]


@pytest.mark.parametrize("name", [KDCONV, MTRAG])
def test_conversations_have_points_that_need_documents_of_their_scope(name: str, data: Data) -> None:
    (conversation,) = read_conversations(data, name)
    known = {block["id"] for block in read_blocks(data, name)[conversation.user_id]}
    (point,) = conversation.points
    assert point.need <= known
    assert conversation.turns[point.after]


def test_every_set_is_named_with_its_origin() -> None:
    rows = PAGE.read_text(encoding="utf-8").split("## Where the sets come from")[1]
    named = {name for suite in SUITES for name in suite.sets} - {"musique_openie", *NEXT}
    assert {name for name in named if not re.search(rf"^\| {name}\b", rows, re.MULTILINE)} == set()


def test_every_line_of_the_page_is_json_that_keeps_its_letters() -> None:
    for _, lines in EXAMPLE.findall(PAGE.read_text(encoding="utf-8")):
        for line in lines.splitlines():
            assert json.dumps(json.loads(line), ensure_ascii=False) == line.strip()
