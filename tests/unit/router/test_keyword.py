"""R-01: the keyword funnel reads its words from data files."""

import pytest

from memvault_router.adapters.data_files import load_language
from memvault_router.domain.labels import top
from memvault_router.domain.operators.fusion import FusionNumbers, fuse
from memvault_router.domain.operators.keyword import parse_lexicon, votes
from memvault_router.domain.operators.pattern_index import seen_in

LEXICONS = load_language().lexicons

pytestmark = pytest.mark.r("R-01")


def lexicon(**entry):
    language = entry.pop("language", "zh")
    script = entry.pop("script", "han" if language == "zh" else "latin")
    return parse_lexicon({"language": language, "script": script, "rule": [entry]})


def test_a_word_added_to_the_data_is_a_word_the_funnel_knows():
    added = lexicon(intent="factual", weight=2.0, words=["幾兩"])
    assert votes((added,), "這個有幾兩重").intents == {"factual": 2.0}


def test_traditional_simplified_full_width_and_case_meet_the_same_rule():
    rule = lexicon(facet="progress", weight=1.0, words=["進度 OCR"])
    for text in ("進度 OCR", "进度 ocr", "進度　ＯＣＲ"):
        assert votes((rule,), text).facets == {"progress": 1.0}


def test_an_english_word_matches_whole_words_only():
    rule = lexicon(language="en", intent="factual", weight=1.0, words=["when"])
    assert votes((rule,), "whenever it rains").intents == {}
    assert votes((rule,), "When does it rain?").intents == {"factual": 1.0}


def test_a_rule_counts_once_however_often_it_matches():
    rule = lexicon(intent="factual", weight=2.0, words=["幾點", "多少"])
    assert votes((rule,), "幾點？多少？幾點？").intents == {"factual": 2.0}


def test_both_languages_are_read_in_one_sentence():
    found = votes(LEXICONS, "should I 換工作，你覺得？")
    assert found.facets["advice"] >= 6.0


def test_a_text_without_a_letter_of_its_script_is_not_searched():
    rule = lexicon(intent="factual", weight=1.0, patterns=["[0-9]+"])
    assert votes((rule,), "42").intents == {}
    assert votes((rule,), "42 個").intents == {"factual": 1.0}


@pytest.mark.parametrize(
    "text", ["ok", "okay!", "kafka", "abc-12", "q3_report", "a@b.com", "好的", "嗯，知道了", "誰", "？", "12"]
)
def test_no_rule_of_the_packaged_lexicons_would_match_without_a_letter_of_its_script(text):
    unread = [each for each in LEXICONS if not each.script.search(text)]
    assert unread
    assert not [each.language for each in unread if each.index.find(text, seen_in(text))]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ok", True),
        ("is it ok", False),
        ("well, thanks", True),
        ("the best way", True),
        ("asbestos", False),
        ("a (|) b", True),
        ("sure", False),
    ],
)
def test_patterns_hold_where_they_say_however_they_are_joined(text, found):
    patterns = ["^ok$|\\bthanks", "\\bbest\\b", "^ok", "[(|]+[)]"]
    rule = lexicon(language="en", intent="factual", weight=1.0, patterns=patterns)
    assert bool(votes((rule,), text).intents) is found


def test_a_code_is_looked_up_in_any_language():
    assert votes(LEXICONS, "INC-4821").intents["entity_lookup"] > 3
    assert votes(LEXICONS, "INC-4821 呢").intents["entity_lookup"] > 1


def test_what_matched_can_be_explained():
    assert "progress: 做到哪" in votes(LEXICONS, "做到哪了").matches


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"intent": "gossip", "weight": 1.0, "words": ["a"]}, "no intent"),
        ({"facet": "gossip", "weight": 1.0, "words": ["a"]}, "no facet"),
        ({"intent": "factual", "weight": 0, "words": ["a"]}, "above 0"),
        ({"intent": "factual", "weight": 1, "words": ["a"], "script": "runic"}, "use one of han, latin"),
        ({"intent": "factual", "weight": 1, "patterns": ["\\Sx"]}, "upper-case escape"),
        ({"intent": "factual", "weight": 1, "patterns": ["(a"]}, "no regular expression"),
    ],
)
def test_a_lexicon_that_breaks_the_format_is_refused_with_the_reason(entry, problem):
    with pytest.raises(ValueError, match=problem):
        lexicon(**entry)


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("台灣高鐵是哪一年通車的？", "factual"),
        ("how many people came?", "factual"),
        ("為什麼天空是藍色的", "conceptual"),
        ("why do cats purr", "conceptual"),
        ("你知道誠品書店嗎", "entity_lookup"),
        ("what does SLO stand for", "entity_lookup"),
        ("INC-4821", "entity_lookup"),
        ("週末有什麼推薦", "exploratory"),
        ("should we use Kubernetes?", "exploratory"),
        ("志豪和佳玲誰比較年長", "cross_domain"),
        ("difference between hub and switch", "cross_domain"),
        ("好的，謝謝", "unknown"),
        ("hello there", "unknown"),
    ],
)
def test_plain_questions_need_no_vector(text, intent):
    numbers = FusionNumbers(embedding_temperature=1.0, keyword_temperature=1.0, keyword_cap=4.0)
    found = votes(LEXICONS, text).intents
    assert top(fuse(found, None, tuple(sorted({*found, "factual"})), numbers))[0] == intent


def test_a_greeting_with_a_real_question_is_no_greeting():
    assert "unknown" not in votes(LEXICONS, "你好，我的護照什麼時候到期？").intents


@pytest.mark.r("R-05")
@pytest.mark.parametrize(
    "text", ["最近怎麼樣", "最近如何？", "這陣子過得怎樣", "how are things lately?", "How's it going recently"]
)
def test_a_question_open_between_two_labels_says_so(text):
    found = votes(LEXICONS, text)
    assert found.open_facets == ("progress", "recollection")
    assert found.open_intents == ("factual", "exploratory")


@pytest.mark.parametrize("text", ["最近 OCR 怎麼樣", "how is the migration going", "最近聊什麼"])
def test_a_question_with_a_subject_is_not_open(text):
    assert votes(LEXICONS, text).open_facets == ()
