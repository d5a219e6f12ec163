"""R-33: entity linking."""

import pytest

from memvault_cascade.domain.graph.linking import LinkLimits, build_name_index, link, may_be_synonyms
from memvault_cascade.domain.graph.model import Entity, EntityKind
from memvault_cascade.domain.graph.names import SELF_NAME, entity_id, entity_key

pytestmark = pytest.mark.r("R-33")

NAMES = {
    "PaddleOCR": (),
    "OCR": (),
    "台北車站": (),
    "臺灣大學": ("台大",),
    "Apple Silicon": (),
    "Alice Chen": ("陳小美",),
    "nas-01": (),
    "nas-02": (),
    "C++": (),
    "報銷系統": (),
    "Q3-報表": (),
    "PostgreSQL": ("Postgres",),
    "Journal of Mathematical Physics": (),
}


@pytest.fixture(scope="module")
def index():
    entities = [Entity(entity_id(name), name, EntityKind.NAME, aliases) for name, aliases in NAMES.items()]
    return build_name_index(entities, LinkLimits())


def linked(text, index):
    by_id = {entity_id(name): name for name in (*NAMES, SELF_NAME)}
    return {by_id[item.entity_id]: item.how for item in link(text, index)}


def test_case_and_width_are_forgiven(index):
    assert linked("上週那個 ＯＣＲ 做到哪了？", index) == {"OCR": "exact"}
    assert linked("paddleocr 好用", index) == {"PaddleOCR": "exact"}


def test_simplified_finds_traditional(index):
    assert linked("台湾大学在台北车站附近", index) == {"臺灣大學": "exact", "台北車站": "exact"}


def test_aliases_and_parts_of_a_name_are_forgiven(index):
    assert linked("台大的課", index) == {"臺灣大學": "exact"}
    assert linked("what did alice say", index) == {"Alice Chen": "part"}


def test_one_typo_is_forgiven(index):
    assert linked("paddelocr?", index) == {"PaddleOCR": "typo"}
    assert linked("postgers", index) == {"PostgreSQL": "typo"}
    assert linked("报銷糸統的進度", index) == {"報銷系統": "typo"}


def test_a_digit_is_never_a_typo(index):
    assert linked("nas-03", index) == {}
    assert linked("nas-01 or nas-04", index) == {"nas-01": "exact"}


def test_signs_inside_a_name_belong_to_it(index):
    assert linked("C++ and Q3-報表", index) == {"C++": "exact", "Q3-報表": "exact"}


def test_of_overlapping_names_the_longest_counts(index):
    assert linked("the journal of mathematical physics", index) == {"Journal of Mathematical Physics": "exact"}


def test_the_user_speaking_of_themselves_links_weakly(index):
    assert linked("你覺得我下一步該怎麼走", index) == {SELF_NAME: "self"}
    assert linked("what should I do", index) == {SELF_NAME: "self"}
    assert linked("我們走吧", index) == {}


@pytest.mark.parametrize("text", ["", "   ", "???", "的", "a", "\u200b", "😀" * 50, "報" * 5000])
def test_any_text_can_be_linked(text, index):
    assert isinstance(linked(text, index), dict)


def test_names_that_differ_in_a_digit_are_never_synonyms():
    assert not may_be_synonyms("printer 10.0.0.5", "printer 10.0.0.8")
    assert may_be_synonyms("NYC", "New York City")


def test_blanks_between_chinese_and_latin_make_no_other_key():
    assert entity_key("Apple Silicon 推理框架") == entity_key("apple silicon推理框架")
