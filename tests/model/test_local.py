from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from scisolve_batch.errors import ModelError, UsageError
from scisolve_batch.model import LocalModel, check_model, open_model


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "tiny-q4.gguf"
    path.write_bytes(b"GGUF\x03\x00\x00\x00")
    return path


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
