"""Makes the tiny model and what the reference computes of it: `python -m tests.parity.make_tiny`.

Run it only when the cases change; the test that compares the stored values with the reference says when that is.
"""

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from tests.parity.cases import EXPECTED, FOLDER, computed
from tests.parity.reference import CONTROL, Tiny

SEED, VOCABULARY = 20, 512
HIDDEN, LAYERS, HEADS, GROUPS, HEAD, INNER, PROJECTED = 32, 2, 6, 2, 16, 64, 24
# how Qwen cuts text before merging byte pairs, from its published tokenizer
CUT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
TEXTS = Path(__file__).parents[2] / "services" / "search" / "memvault_search" / "data" / "generic_text"


def tokenizer() -> Tokenizer:
    """Qwen's kind of tokenizer, trained on a few hundred everyday sentences."""
    made = Tokenizer(models.BPE())
    made.normalizer = normalizers.NFC()
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(CUT), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY - len(CONTROL), initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    lines = [line for path in sorted(TEXTS.glob("*.txt")) for line in path.read_text(encoding="utf-8").splitlines()]
    made.train_from_iterator([*lines, *["yes", "no"] * 200], trainer)
    made.add_special_tokens([AddedToken(word, special=True, normalized=False) for word in CONTROL])
    return made


def weights(vocabulary: int) -> dict[str, np.ndarray]:
    """Random weights large enough that every part of the architecture shows in the result."""
    dice = np.random.default_rng(SEED)

    def matrix(rows: int, columns: int) -> np.ndarray:
        return dice.normal(0.0, 1.5 / np.sqrt(columns), (rows, columns)).astype(np.float32)

    def norm(size: int) -> np.ndarray:
        return dice.uniform(0.7, 1.3, size).astype(np.float32)

    made = {"model.embed_tokens.weight": dice.normal(0.0, 0.5, (vocabulary, HIDDEN)).astype(np.float32)}
    for number in range(LAYERS):
        layer = f"model.layers.{number}"
        shapes = {
            "self_attn.q_proj": (HEADS * HEAD, HIDDEN),
            "self_attn.k_proj": (GROUPS * HEAD, HIDDEN),
            "self_attn.v_proj": (GROUPS * HEAD, HIDDEN),
            "self_attn.o_proj": (HIDDEN, HEADS * HEAD),
            "mlp.gate_proj": (INNER, HIDDEN),
            "mlp.up_proj": (INNER, HIDDEN),
            "mlp.down_proj": (HIDDEN, INNER),
        }
        made |= {f"{layer}.{name}.weight": matrix(*shape) for name, shape in shapes.items()}
        norms = {"self_attn.q_norm": HEAD, "self_attn.k_norm": HEAD}
        norms |= {"input_layernorm": HIDDEN, "post_attention_layernorm": HIDDEN}
        made |= {f"{layer}.{name}.weight": norm(size) for name, size in norms.items()}
    made["model.norm.weight"] = norm(HIDDEN)
    return made


def main() -> None:
    """Write model, tokenizer, projector, and the expected values."""
    FOLDER.mkdir(exist_ok=True)
    made = tokenizer()
    made.save(str(FOLDER / "tokenizer.json"), pretty=False)
    vocabulary = made.get_vocab_size(with_added_tokens=True)
    config = {
        "model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "vocab_size": vocabulary, "hidden_size": HIDDEN,
        "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": GROUPS, "head_dim": HEAD,
        "intermediate_size": INNER, "max_position_embeddings": 32768, "rope_theta": 1000000.0, "rms_norm_eps": 1e-06,
        "tie_word_embeddings": True,
    }  # fmt: skip
    (FOLDER / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    save_file(weights(vocabulary), FOLDER / "model.safetensors", metadata={"format": "mlx"})
    dice = np.random.default_rng(SEED + 1)
    half = HIDDEN // 2
    projector = {
        "linear1.weight": dice.normal(0, 0.3, (half, HIDDEN)),
        "linear2.weight": dice.normal(0, 0.3, (PROJECTED, half)),
    }
    save_file({name: value.astype(np.float32) for name, value in projector.items()}, FOLDER / "projector.safetensors")
    np.savez_compressed(EXPECTED, **computed(Tiny.read(FOLDER)))


if __name__ == "__main__":
    main()
