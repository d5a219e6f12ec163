"""mlx_lm.server on the tiny model, as `memvault up` starts it: ready when it answers, asked through the client."""

import asyncio
import importlib.util
import json
import os
import shutil
from pathlib import Path

import httpx
import pytest

from memvault.faults import Fault, Reason
from memvault.llm.client import LlmClient, LlmSettings
from memvault.runtime.folder import Folder
from memvault.runtime.settings import load
from memvault.runtime.supervisor import Launch
from memvault.runtime.topology import plan

TINY = Path(__file__).parents[2] / "parity" / "tiny_qwen3"
CHAT = "{% for message in messages %}<|im_start|>{{ message.content }}<|im_end|>{% endfor %}<|im_start|>"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(importlib.util.find_spec("mlx_lm") is None, reason="mlx-lm is not installed"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    weights = shutil.copytree(TINY, tmp_path / "models" / "qwen3-4b-instruct")
    tokenizer = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|im_end|>", "chat_template": CHAT}
    (weights / "tokenizer_config.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    monkeypatch.setenv("MEMVAULT__HTTP__ADDRESS", "127.0.0.1:0")
    monkeypatch.setenv("MEMVAULT__ADDRESSES__GATEWAY", "127.0.0.1:0")
    monkeypatch.setenv("MEMVAULT__TEXT_MODEL__MODEL", "qwen3-4b-instruct")
    made = Folder(tmp_path)
    made.prepare()
    return made


async def test_the_server_becomes_ready_and_answers_the_client(folder: Folder) -> None:
    made = plan(folder, "six")
    spec = next(one for one in made.specs if one.name == "text_model")
    environment = {**os.environ, **spec.environment, "MLX_DISABLE_COMPILE": "1"}
    log = folder.root / "text_model.log"
    with log.open("wb") as sink:
        process = await asyncio.create_subprocess_exec(*spec.command, env=environment, stdout=sink, stderr=sink)
    launch = Launch(spec.name, process.pid, "", spec.address)
    try:
        assert not await spec.ready(launch), "it takes seconds to start"
        async with asyncio.timeout(240):
            while not await spec.ready(launch):
                assert process.returncode is None, log.read_text("utf-8")
                await asyncio.sleep(0.2)
        told = next(one for one in made.specs if one.name == "router").environment
        settings = load("llm", LlmSettings, home=folder.root, environ=told).model_copy(update={"max_tokens": 4})
        client = LlmClient(settings)
        try:
            with pytest.raises(Fault) as nonsense:  # random weights speak, but no JSON
                await client.json("Answer in JSON.", "hello", timeout_s=120.0)
            assert nonsense.value.reason is Reason.MODEL_FAILED, nonsense.value
            assert "no JSON object" in nonsense.value.message
        finally:
            await client.stop()
        async with httpx.AsyncClient(trust_env=False, timeout=120.0) as http:
            asked = {"model": "somebody/else", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 1}
            refused = await http.post(f"{settings.base_url}/chat/completions", json=asked)
        assert refused.status_code != httpx.codes.OK, "another model is refused, never downloaded"
    finally:
        process.kill()
        await process.wait()
