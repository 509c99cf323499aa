from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scisolve_batch.errors import UsageError
from scisolve_batch.model import (
    Credentials,
    LiveModel,
    ScriptedModel,
    check_model,
    open_model,
    split_model,
)


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("claude-haiku-5-5", ("anthropic", "claude-haiku-5-5")),
        ("anthropic:claude-haiku-5-5", ("anthropic", "claude-haiku-5-5")),
        ("scripted", ("scripted", "")),
        ("scripted:a/b:c.yaml", ("scripted", "a/b:c.yaml")),
    ],
)
def test_a_name_is_a_scheme_and_the_rest(spec: str, parts: tuple[str, str]) -> None:
    assert split_model(spec) == parts


@pytest.mark.parametrize("spec", ["", "openai:gpt", "anthropic:", ":x"])
def test_an_unknown_scheme_lists_the_known(spec: str) -> None:
    with pytest.raises(UsageError, match=r"known are anthropic:claude-haiku-5-5.*scripted:FILE"):
        open_model(spec)


def test_models_are_opened_by_name(tmp_path: Path) -> None:
    script = tmp_path / "s.yaml"
    script.write_text("- text: hi\n")
    live = open_model("claude-haiku-5-5", credentials=Credentials(api_key="k"), effort="low")
    assert isinstance(live, LiveModel)
    assert live.name == "claude-haiku-5-5"
    assert isinstance(open_model(f"scripted:{script}"), ScriptedModel)
    assert isinstance(open_model("scripted", script=script), ScriptedModel)
    with pytest.raises(UsageError, match="scripted:FILE"):
        open_model("scripted")


def test_no_sdk_is_loaded_before_the_first_request() -> None:
    code = """
import sys
import scisolve_batch.model as m
for name in m.__all__: getattr(m, name)
m.open_model("claude-haiku-5-5", credentials=m.Credentials(api_key="k"))
heavy = {"anthropic", "httpx2", "numpy"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_public_name_is_an_attribute_error() -> None:
    import scisolve_batch.model

    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = scisolve_batch.model.Nothing


def test_a_run_is_checked_before_it_begins(tmp_path: Path, monkeypatch) -> None:
    with pytest.raises(UsageError, match="set ANTHROPIC_API_KEY"):
        check_model("claude-haiku-5-5")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-1")
    assert check_model("claude-haiku-5-5") == Credentials(api_key="key-1")
    local = check_model("some-model", base_url="http://localhost:8080")
    assert local is not None
    assert local.base_url == "http://localhost:8080"
    assert check_model("scripted") is None
    assert check_model(f"replay:{tmp_path}") is None
    with pytest.raises(UsageError, match="no such folder of recordings"):
        check_model(f"replay:{tmp_path / 'none'}")
    with pytest.raises(UsageError, match="--record needs a model that is asked"):
        check_model("scripted", record=tmp_path)
