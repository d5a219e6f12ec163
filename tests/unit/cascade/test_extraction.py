"""R-34: the deterministic extractor for both languages."""

import pytest

from memvault_cascade.domain.graph.extraction import extract
from memvault_cascade.domain.graph.rules import compile_language, compile_predicates

pytestmark = pytest.mark.r("R-34")


def facts(text, rules, speaker=""):
    return [(f.subject, f.predicate, f.object) for f in extract(text, speaker, rules).facts]


def names(text, rules):
    return {m.name for m in extract(text, "", rules).mentions}


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("王小明負責報銷系統的後端。", ("王小明", "負責", "報銷系統的後端")),
        ("今天開會，陳經理負責 Q3-報表。", ("陳經理", "負責", "Q3-報表")),
        ("報銷系統目前使用 PaddleOCR。", ("報銷系統", "使用", "PaddleOCR")),
        ("我搬到台北了。", ("我", "住在", "台北")),
        ("我目前在旺福科技上班", ("我", "任職於", "旺福科技")),
        ("OCR 專案進度做到 60% 了", ("OCR專案", "進度", "60%")),
        ("印表機的 IP 是 10.0.0.5", ("印表機", "IP", "10.0.0.5")),
        ("資料庫從 MySQL 換成 PostgreSQL", ("資料庫", "換成", "PostgreSQL")),
        ("MLX 是 Apple Silicon 推理框架", ("MLX", "是", "Apple Silicon推理框架")),
        ("我的貓叫 Mochi", ("貓", "叫", "Mochi")),
        ("我们决定改用 Qdrant", ("我", "決定", "改用Qdrant")),
    ],
)
def test_a_plain_chinese_statement_becomes_a_fact(text, fact, rules):
    assert fact in facts(text, rules)


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Alice uses Rust for the parser.", ("Alice", "uses", "Rust")),
        ("The team is responsible for the payment service.", ("team", "responsible for", "payment service")),
        ("I moved to Berlin in March.", ("我", "lives in", "Berlin")),
        ("Bob works at Acme Corp.", ("Bob", "works at", "Acme Corp")),
        ("The IP of the printer is 10.0.0.5.", ("printer", "IP", "10.0.0.5")),
        ("Bob's phone is 0912-345-678.", ("Bob", "phone", "0912-345-678")),
        ("The OCR project is 60% done.", ("OCR project", "status", "60% done")),
        ("We decided to use Qdrant instead of Milvus.", ("我", "decided to", "use Qdrant")),
        ("OPS-1234 is blocked by the firewall change.", ("OPS-1234", "is blocked by", "firewall change")),
        ("My deadline is Friday.", ("我", "deadline", "Friday")),
    ],
)
def test_a_plain_english_statement_becomes_a_fact(text, fact, rules):
    assert fact in facts(text, rules)


@pytest.mark.parametrize(
    "text",
    [
        "Alice doesn't use Go.",
        "Does Bob use Go?",
        "If Alice uses Rust we are done.",
        "Maybe Carol owns the build.",
        "She works at Acme.",
        "Sounds like a plan.",
        "如果王小明負責後端就好了",
        "王小明負責後端嗎？",
        "王小明沒有負責後端",
        "要不要改用 Rust",
        "他負責後端",
        "",
        "。。。",
    ],
)
def test_a_sentence_that_asks_doubts_denies_or_names_nobody_states_nothing(text, rules):
    assert facts(text, rules) == []


def test_i_is_the_speaker_and_an_assistant_speaks_for_nobody(rules):
    assert facts("I use Vim.", rules, "Carol") == [("Carol", "uses", "Vim")]
    assert facts("I use Vim.", rules, "user") == [("我", "uses", "Vim")]
    assert facts("I use Vim.", rules, "assistant") == []


def test_names_codes_and_terms_are_entities_even_when_no_fact_is_stated(rules):
    assert {"OPS-1234", "v1.2.3", "nas-01"} <= names("see OPS-1234 on nas-01, fixed in v1.2.3", rules)
    assert {"林美華", "讀書會"} <= names("今天跟林美華討論「讀書會」的選書", rules)
    assert {"PaddleOCR", "Rust"} <= names("想把 PaddleOCR 換掉，也想學 Rust", rules)
    assert "Q3-報表" in names("Q3-報表 還沒好", rules)
    assert {"Apple Silicon", "Berlin"} <= names("We met in Berlin about Apple Silicon.", rules)


@pytest.mark.r("R-63")
def test_a_link_between_notes_names_what_it_links_to_and_a_picture_names_nothing(rules):
    text = "見 [[讀書會/週三的鹿|鹿]] 與 [[second suite#Prelude]]，[[x]]。\n![[scan.png]] see [[讀書會/週三的鹿]]"
    names = [mention.name for mention in extract(text, "", rules).mentions]
    assert names[:2] == ["週三的鹿", "second suite"]
    assert not {"scan.png", "scan", "x", "鹿"} & set(names[:3])
    assert names.count("週三的鹿") == 1


def test_a_capital_at_the_start_of_a_sentence_or_in_the_calendar_names_nothing(rules):
    assert names("Yesterday was fine. Meetings went on until Monday in March.", rules) == set()


def test_the_wording_of_a_relation_is_no_entity(rules):
    assert "IP" not in names("印表機的 IP 是 10.0.0.5", rules)
    assert "負責人" not in names("負責人還沒定", rules)


def test_a_pattern_with_an_unknown_slot_is_refused_by_name():
    data = {"language": "en", "doubtful": "x", "pattern": [{"regex": "{NOPE}"}]}
    with pytest.raises(ValueError, match="NOPE"):
        compile_language(data)


def test_a_wording_under_two_relations_is_refused_by_name():
    with pytest.raises(ValueError, match="same words"):
        compile_predicates({"a": {"forms": ["same words"]}, "b": {"forms": ["same words"]}})


def test_wordings_of_one_relation_in_two_languages_have_one_key(rules):
    assert rules.predicates.key("住在") == rules.predicates.key("moved to") == "lives_in"
    assert rules.predicates.key("Knows  Well") == "knows well"
