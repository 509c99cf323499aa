"""An index page of a folder of reports: one line a run, newest first."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from scisolve_batch.errors import RunDirError
from scisolve_batch.files import write_whole
from scisolve_batch.report import figures
from scisolve_batch.report.build import SUMMARY
from scisolve_batch.report.load import read_summary
from scisolve_batch.report.page import PAGE, TEMPLATES, environment, trusted
from scisolve_batch.report.render import pin_word

INDEX = "index.html"


def write_index(folder: Path | str) -> Path:
    """Write `index.html` into a folder of reports, linking to the page of each.

    Reports that cannot be read are named on the page.

    Raises:
        RunDirError: there is no such folder, or it cannot be written.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise RunDirError(f"{folder}: no such folder")
    entries, broken = [], []
    for child in sorted(folder.iterdir()):
        if not (child / SUMMARY).is_file():
            continue
        try:
            summary = read_summary(child / SUMMARY)
        except RunDirError as error:
            broken.append((child.name, str(error)))
            continue
        href = f"./{quote(child.name)}/{PAGE}"
        entries.append({"summary": summary, "href": href, "pin": pin_word(summary.suite.pin)})
    entries.sort(key=lambda entry: getattr(entry["summary"], "created_at", ""), reverse=True)
    text = (
        environment()
        .get_template("index.html.j2")
        .render(
            folder=str(folder),
            entries=entries,
            broken=broken,
            whisker=lambda rate, name: trusted(figures.whisker(rate, name=name)),
            style=trusted((TEMPLATES / "page.css").read_text("utf-8")),
        )
    )
    target = folder / INDEX
    write_whole(target, text.encode("utf-8", "backslashreplace"))
    return target
