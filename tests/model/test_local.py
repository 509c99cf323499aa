from __future__ import annotations

import json
import os
import struct
import sys
from dataclasses import replace
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace

import jinja2
import pytest

from scisolve_batch.errors import ModelError, UsageError
from scisolve_batch.model import LocalModel, Request, check_model, open_model
from scisolve_batch.model.local import OUTPUT_TOKENS, TEMPLATE, choose_template

CHATML = "{% for message in messages %}<|im_start|>{{ message.role }}{% endfor %}"


def write_weights(folder: Path, template: str | None) -> Path:
    """A file with the head of a GGUF: magic, and its chat template among other metadata."""
    data = b"GGUF\x03\x00\x00\x00" + b"general.architecture" + struct.pack("<IQ", 8, 5) + b"llama"
    if template is not None:
        text = template.encode()
        data += b"tokenizer.chat_template" + struct.pack("<IQ", 8, len(text)) + text
    path = folder / "tiny-q4.gguf"
    path.write_bytes(data + bytes(64))
    return path


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    return write_weights(tmp_path, CHATML)


@pytest.fixture
def engine(server, monkeypatch) -> ModuleType:
    """Stands where xllamacpp stands: takes its parameters, serves with the test's own server."""

    class CommonParams(SimpleNamespace):
        def __init__(self) -> None:
            parts = ("model", "cpuparams", "cpuparams_batch", "sampling")
            super().__init__(**{part: SimpleNamespace() for part in parts})

    class Server:
        def __init__(self, params: CommonParams) -> None:
            module.started.append(params)
            if module.refuses:
                raise RuntimeError("tensor shapes do not fit")
            self.listening_address = server.url

    module = ModuleType("xllamacpp")
    module.__spec__ = ModuleSpec("xllamacpp", loader=None)
    module.CommonParams, module.Server = CommonParams, Server
    module.started, module.refuses = [], False
    monkeypatch.setitem(sys.modules, "xllamacpp", module)
    return module


def test_a_file_is_served_at_the_first_request_only(engine, server, weights, question) -> None:
    model = open_model(f"local:{weights}", threads=2)
    assert engine.started == []
    server.play("s-tool", "s-ok")
    assert model.reply(question).tool_calls[0]["input"] == {"code": "print(1)"}
    assert model.reply(question).text == "Hello"
    model.close()
    model.close()
    (params,) = engine.started
    assert (params.model.path, params.hostnames) == (str(weights), ["127.0.0.1"])
    assert (params.cpuparams.n_threads, params.cpuparams.poll, params.use_jinja) == (2, 0, True)
    assert params.chat_template == TEMPLATE.read_text()
    (key,) = params.api_keys
    assert len(key) == 32 and key not in repr(model)
    assert server.bodies[0]["max_tokens"] <= OUTPUT_TOKENS
    assert model.name == "local:tiny-q4"
    assert server.bodies[0]["model"] == "local:tiny-q4"


def test_a_file_that_cannot_be_loaded_is_named(engine, weights, question) -> None:
    engine.refuses = True
    with pytest.raises(ModelError, match=r"tiny-q4\.gguf: cannot be loaded: tensor shapes"):
        LocalModel(weights).reply(question)


def test_without_the_extra_it_says_what_to_install(weights, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    monkeypatch.setattr("scisolve_batch.model.local.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'scisolve-batch\[local\]'"):
        open_model(f"local:{weights}")


def test_what_is_no_model_file_is_refused_before_anything_is_loaded(engine, tmp_path) -> None:
    (tmp_path / "notes.txt").write_text("no weights")
    with pytest.raises(UsageError, match="is no GGUF file"):
        check_model(f"local:{tmp_path / 'notes.txt'}")
    with pytest.raises(UsageError, match=r"none\.gguf: cannot be read: No such file"):
        check_model(f"local:{tmp_path / 'none.gguf'}")
    assert engine.started == []


def test_a_template_with_tools_is_kept_and_one_without_is_replaced(tmp_path) -> None:
    assert choose_template(write_weights(tmp_path, "{% if tools %}{{ tools }}{% endif %}")) == ""
    for replaced in (CHATML, None):
        assert choose_template(write_weights(tmp_path, replaced)) == TEMPLATE.read_text()


def test_a_model_that_cannot_be_told_of_tools_is_refused_at_once(engine, tmp_path) -> None:
    path = write_weights(tmp_path, "[INST] {{ messages[0].content }} [/INST]")
    with pytest.raises(UsageError, match="its chat template has no place for tools"):
        check_model(f"local:{path}")


def test_our_template_shows_tools_calls_and_results() -> None:
    tool = {"type": "function", "function": {"name": "run_python"}}
    call = {"function": {"name": "run_python", "arguments": {"code": "print(1)"}}}
    shown = jinja2.Template(TEMPLATE.read_text(), trim_blocks=True, lstrip_blocks=True).render(
        messages=[
            {"role": "system", "content": "Solve."},
            {"role": "user", "content": "What is 1?"},
            {"role": "assistant", "content": "Let me see.", "tool_calls": [call]},
            {"role": "tool", "content": "1"},
        ],
        tools=[tool],
        add_generation_prompt=True,
    )
    assert shown.startswith("<|im_start|>system\nSolve.\n\nYou act by calling")
    (described,) = [line for line in shown.splitlines() if line.startswith('{"function"')]
    assert json.loads(described) == tool
    assert "<|im_start|>user\nWhat is 1?<|im_end|>\n<|im_start|>assistant\nLet me see." in shown
    assert (
        '```json\n{"name": "run_python", "arguments": {"code": "print(1)"}}\n```<|im_end|>' in shown
    )
    assert shown.endswith("user\nResult of the call:\n1<|im_end|>\n<|im_start|>assistant\n")


# ---- a real file ---------------------------------------------------------------------


def multiply(number: int, a: int, b: int) -> list[dict[str, object]]:
    """An exchange in which a product is computed by a call."""
    call = {
        "type": "tool_use",
        "id": f"toolu_{number}",
        "name": "run_python",
        "input": {"code": f"print({a}*{b})"},
    }
    result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": str(a * b)}
    return [
        {"role": "user", "content": f"Compute {a}*{b} with run_python."},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": f"It is {a * b}."},
    ]  # fmt: skip


@pytest.mark.local
def test_a_small_model_calls_a_tool_after_a_few_examples(question: Request) -> None:
    """Real weights, the real server, our template: the call comes back as a call."""
    history = [
        one for n, pair in enumerate([(2, 3), (4, 5), (7, 8), (3, 9)]) for one in multiply(n, *pair)
    ]
    asked = {"role": "user", "content": "Compute 6*7 with run_python."}
    model = LocalModel(os.environ["TEST_GGUF"], context_tokens=4096)
    try:
        reply = model.reply(replace(question, messages=(*history, asked), max_tokens=120))
    finally:
        model.close()
    assert reply.stop_reason == "tool_use"
    assert [(call["name"], call["input"]) for call in reply.tool_calls] == [
        ("run_python", {"code": "print(6*7)"})
    ]
