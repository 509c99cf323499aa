"""The page in a real browser: what is clicked answers, and nothing that a model wrote acts.

Skipped only where no Chromium is installed. One browser and one page serve all tests.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import Chromium, find_chromium
from everything import every_outcome
from handmade import literal, manifest, problem, solved

from scisolve_batch.records import (
    Cell,
    Failure,
    Grounding,
    GroundingVerdict,
    ReportedValue,
    Verdict,
    Verification,
)
from scisolve_batch.report import build_report
from scisolve_batch.rundir import RunDir

pytestmark = pytest.mark.skipif(find_chromium() is None, reason="no Chromium is installed")

PAYLOADS = [
    "<script>window.hit=1</script>",
    "</script><script>window.hit=2</script>",
    "<img src=x onerror='window.hit=3'>",
    "'\"><svg onload=window.hit=4>",
    "<!--<script>",
    "]]><iframe src='javascript:parent.hit=5'></iframe>",
    "<a href='javascript:window.hit=6' autofocus onfocus='window.hit=7'>x</a>",
    "{{ constructor.constructor('window.hit=8')() }}",
    "http://198.51.100.1/x.png\u202e\u0000",
]
HOSTILE = " ".join(PAYLOADS)


def _hostile() -> Any:
    """Every text of a record is a payload."""
    items = tuple(
        literal(HOSTILE, verdict, label=HOSTILE, reason=HOSTILE, nearest=HOSTILE, start=2, end=9)
        for verdict in (Verdict.UNGROUNDED, Verdict.GROUNDED)
    )
    cell = Cell(index=1, code=HOSTILE, stdout=HOSTILE, stderr=HOSTILE, traceback=HOSTILE, note=HOSTILE,
                figures=(HOSTILE,))  # fmt: skip
    return solved(
        "hostile",
        answer=HOSTILE,
        values=(ReportedValue(name=HOSTILE, value=HOSTILE),),
        verification=Verification(kind=HOSTILE, description=HOSTILE, reason=HOSTILE),
        grounding=Grounding(policy=HOSTILE, verdict=GroundingVerdict.UNGROUNDED, literals=items),
        failure=Failure(kind=HOSTILE, message=HOSTILE),
        cells=(cell,),
    )


@pytest.fixture(scope="module")
def page_file() -> Iterator[Path]:
    known = every_outcome()
    about = problem("hostile", statement=HOSTILE, title=HOSTILE, domain=HOSTILE, tags=(HOSTILE,))
    long = solved("long-output", cells=(Cell(
        index=1, code="...", stdout="".join(f"line {n}\n" for n in range(1, 400)) + "x = 3.1415927\n"
    ),), grounding=Grounding(policy="decimal", verdict=GroundingVerdict.GROUNDED, literals=(
        literal("3.1415927", line=400, label="x"),)))  # fmt: skip
    plan = manifest(
        [*known.problems, about, problem("long-output", domain="optics")],
        run_id="browser",
        versions={HOSTILE: HOSTILE},
        isolation={"closed": {"network": True, "files": False, HOSTILE: True}, "mode": HOSTILE},
    )
    with tempfile.TemporaryDirectory() as folder:
        with RunDir.create(Path(folder) / "browser", plan) as run:
            for each in (*known.solutions, _hostile(), long):
                place = run.problem(each.problem_id, each.sample)
                place.prepare(problem(each.problem_id))
                for cell in each.cells:
                    place.write_cell(cell)
                place.write_solution(each)
        yield build_report(run.path, Path(folder) / "report").page


@pytest.fixture(scope="module")
def browser(page_file: Path) -> Iterator[Chromium]:
    with Chromium() as opened:
        yield opened


@pytest.fixture
def page(browser: Chromium, page_file: Path) -> Chromium:
    """The page as it is when somebody opens it."""
    browser.look()
    browser.open("about:blank")
    browser.open(page_file)
    return browser


def shown(page: Chromium) -> list[str]:
    """Ids of the problems that the table shows, in order."""
    found: list[str] = page.run(
        "[...document.querySelectorAll('#table tbody tr[data-i]')].filter(r => !r.hidden)"
        ".map(r => r.querySelector('.open').textContent.trim())"
    )
    return found


def row(page: Chromium, name: str) -> str:
    """A selector of a problem's row."""
    number = page.run(
        "[...document.querySelectorAll('#table tbody tr[data-i]')]"
        f".find(r => r.querySelector('.open').textContent.trim() === {json.dumps(name)}).dataset.i"
    )
    return f'tr[data-i="{number}"]'


def test_typing_and_choosing_filters_the_table_and_clear_shows_all(page: Chromium) -> None:
    everything = shown(page)
    page.press("/")
    page.type("grounded check-")
    assert shown(page) == []
    page.click("button[type=reset]")
    page.run("new Promise(done => setTimeout(done))")
    page.press("/")
    assert page.run("document.activeElement.name") == "q"
    page.type("check-")
    found = shown(page)
    assert len(found) == 6 and all("check" in name for name in found)
    assert page.run("document.getElementById('shown').textContent") == f"6 of {len(everything)}"
    assert "q=check-" in page.run("location.hash")
    page.run(
        "(() => { const s = document.querySelector('select[name=outcome]'); s.value = 'unfinished';"
        " s.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )
    assert shown(page) == []
    page.click("button[type=reset]")
    page.run("new Promise(done => setTimeout(done))")
    assert shown(page) == everything


def test_a_click_on_a_column_sorts_and_another_turns_it_round(page: Chromium) -> None:
    button = ".sort[data-column='9']"  # time
    page.click(button)
    times = "[...document.querySelectorAll('#table tbody tr[data-i]')].map(r => r.cells[9].textContent.trim()).filter(t => t !== '–').map(Number)"
    down = page.run(times)
    assert down == sorted(down, reverse=True) and down[0] == 550.0
    assert page.run(f'document.querySelector("{button}").closest("th").ariaSort') == "descending"
    page.click(button)
    assert page.run(times) == sorted(down)
    page.click(".sort[data-column='0']")
    assert shown(page) == sorted(shown(page))


def test_a_problem_opens_and_closes_by_mouse_and_by_key(page: Chromium) -> None:
    place = row(page, "right")
    assert page.run("document.querySelectorAll('.panel').length") == 0
    page.click(place + " .open")
    text = page.run("document.querySelector('.panel').innerText")
    for words in ("Compute right with n = 100.", "x = 3.1415927", "print('x =', 3.1415927)"):
        assert words in text
    assert page.run(f"document.querySelector('{place} .open').ariaExpanded") == "true"
    page.press("Escape")
    assert page.run("document.querySelectorAll('.panel').length") == 0
    page.run(f"document.querySelector('{place} .open').focus()")
    page.press("Enter")
    assert page.run("document.querySelectorAll('.panel').length") == 1


def test_what_became_of_a_cell_is_told_in_words_apart(page: Chromium) -> None:
    page.click(row(page, "all-verdicts") + " .open")
    heads = page.run(
        "[...document.querySelectorAll('.cell > header')].map(h => [...h.childNodes].map(n => n.nodeType === 1 && n.textContent))"
    )
    assert heads[0] == ["cell 1", "✓ ok", "0.10 s"]
    assert heads[1] == ["cell 2", "✗ error", "0.20 s", "variables restored", "error"]


def test_a_click_on_a_number_jumps_to_the_line_that_printed_it(page: Chromium) -> None:
    page.click(row(page, "long-output") + " .open")
    page.run("document.documentElement.style.scrollBehavior = 'auto'")
    line = "document.querySelector('.panel .out [data-n=\"400\"]')"
    inside = (
        f"(() => {{ const pre = {line}.closest('pre').getBoundingClientRect(),"
        f" l = {line}.getBoundingClientRect();"
        " return l.top >= pre.top - 1 && l.bottom <= pre.bottom + 1"
        " && l.top >= 0 && l.bottom <= innerHeight + 1; })()"
    )
    assert not page.run(inside)
    page.click(".panel .answer .lit")
    assert page.run(f"{line}.classList.contains('hit')")
    assert page.run(inside)
    why = page.run("document.querySelector('.panel .why').textContent")
    assert "cell 1, line 400" in why and 'printed after "x"' in why
    assert page.run("document.querySelector('.panel .answer .lit').title") == why


def test_a_link_in_a_list_opens_its_problem(page: Chromium) -> None:
    assert page.run("document.querySelectorAll('.list a').length") > 3
    page.click(".list a")
    page.run("new Promise(done => setTimeout(done, 0))")
    name = page.run("document.querySelector('.list a').textContent.trim()")
    opened = page.run(
        "document.querySelector('.panel').closest('tr').previousElementSibling"
        ".querySelector('.open').textContent.trim()"
    )
    assert opened == name


def test_nothing_a_model_wrote_acts_and_nothing_is_fetched(
    browser: Chromium, page_file: Path
) -> None:
    browser.console.clear()
    browser.requests.clear()
    browser.look()
    browser.open(page_file)
    buttons = browser.run("document.querySelectorAll('.open').length")
    browser.run("document.querySelectorAll('.open').forEach(b => b.click())")
    browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.run("document.querySelectorAll('.panel').length") == buttons
    browser.run("document.querySelectorAll('.lit').forEach(b => b.click())")
    browser.run("new Promise(done => setTimeout(done, 50))")
    text = browser.run("document.body.innerText")
    for payload in PAYLOADS[:-1]:
        assert text.count(payload) >= 5
    assert "\u202e" not in text and "⟨U+202E⟩" in text
    assert browser.run("typeof window.hit") == "undefined"
    assert browser.run("document.querySelectorAll('iframe, img, object, embed').length") == 0
    assert browser.run("document.querySelectorAll('a[href^=\"javascript\"]').length") == 0
    assert browser.console == []
    assert browser.requests == [page_file.as_uri()]


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 768, 1200])
def test_nothing_is_cut_off_at_any_width(page: Chromium, width: int) -> None:
    page.look(width=width)
    page.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    page.run("document.querySelectorAll('.open').forEach(b => b.click())")
    # What scrolls by itself may be wider; the page may not.
    wide = page.run(
        "[...document.querySelectorAll('body *')].filter(e => !e.closest('.scroll, svg, pre, .skip'))"
        ".filter(e => { const r = e.getBoundingClientRect();"
        " return r.width && (r.right > document.documentElement.clientWidth + 1 || r.left < -1); })"
        ".map(e => e.tagName + '.' + e.className).slice(0, 5)"
    )
    assert wide == []
    assert page.run("document.documentElement.scrollWidth") <= width


@pytest.mark.slow
def test_text_can_be_read_in_light_and_in_dark(page: Chromium) -> None:
    page.click(row(page, "all-verdicts") + " .open")
    contrast = """(() => {
      const rgb = (c) => c.match(/[\\d.]+/g).map(Number);
      const lum = (c) => c.slice(0, 3).map(v => v / 255)
        .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
        .reduce((a, v, i) => a + v * [.2126, .7152, .0722][i], 0);
      const back = (e) => { for (; e; e = e.parentElement) {
        const c = rgb(getComputedStyle(e).backgroundColor);
        if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
      return [...document.querySelectorAll('p, li, td, th, button, h1, h2, h3, h4, pre, span, small, dt, dd')]
        .filter(e => e.checkVisibility() && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
        .map(e => { const a = lum(rgb(getComputedStyle(e).color)), b = lum(back(e));
          return [(Math.max(a, b) + .05) / (Math.min(a, b) + .05), e.tagName + '.' + e.className]; })
        .filter(([ratio]) => ratio < 4.5).slice(0, 5);
    })()"""
    for dark in (False, True):
        page.look(dark=dark)
        assert page.run(contrast) == []
    assert page.run("getComputedStyle(document.body).backgroundColor") == "rgb(20, 22, 26)"
