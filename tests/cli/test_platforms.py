"""Systems that lack what sessions stand on: said plainly, before anything is started."""

import json
import sys
from dataclasses import replace

import pytest

from scisolve_batch.batch import runner
from scisolve_batch.batch.templates import template_options
from scisolve_batch.errors import SessionError
from scisolve_batch.executor import Template, TemplateOptions
from scisolve_batch.settings import merge_settings
from scisolve_batch.suite import load_suite


def test_windows_is_refused_with_the_way_to_go_on(call_here, monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    code, out, err = call_here("run", "core")
    assert (code, out) == (2, "")
    assert "Windows is not supported" in err and "WSL 2" in err
    with pytest.raises(SessionError, match="cannot be run on Windows"):
        Template(TemplateOptions())


def test_where_sessions_cannot_be_forked_the_run_says_so(monkeypatch, tmp_path):
    said = []

    class Display:
        def __init__(self, total):
            pass

        def say(self, text):
            said.append(text)

        def __getattr__(self, name):
            return lambda *args, **more: None

    def spawning(settings):
        return replace(template_options(settings), method="spawn", self_test=False)

    monkeypatch.setattr(runner, "template_options", spawning)
    suite = load_suite("smoke")
    settings = merge_settings({"preload": ("numpy",)}, environ={})
    outcome = runner.run_suite(
        suite.problems[:1], suite=suite.ref, settings=settings, out=tmp_path / "r", progress=Display
    )
    assert said[0] == runner.SPAWN_NOTE
    assert outcome.unfinished == 0
    manifest = json.loads((tmp_path / "r/manifest.json").read_text())
    assert manifest["isolation"]["method"] == "spawn"
