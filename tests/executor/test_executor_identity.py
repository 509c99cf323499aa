"""Sessions of a run that root starts are nobody in particular, and leave nothing odd behind."""

import os
import stat
import sys
from pathlib import Path

import pytest

from scisolve_batch.errors import SessionError
from scisolve_batch.executor import SessionSpec, Template, TemplateOptions, identity, isolation

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="user numbers of Linux"),
    pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else"),
]
LAYER = "unprivileged_identity"


@pytest.fixture
def dropping(template):
    layer = template.isolation["layers"][LAYER]
    if layer["state"] != "in_force":
        pytest.skip(f"{LAYER}: {layer['reason']}")
    return template


@pytest.fixture
def folders(tmp_path):
    work, figures = tmp_path / "work", tmp_path / "figures"
    work.mkdir()
    figures.mkdir()
    return work, figures


def test_a_session_is_nobody_and_its_files_come_back_to_the_starter(
    dropping, source, folders, limits
):
    work, figures = folders
    (work / "data.csv").write_text("1,2\n")
    with source.open(SessionSpec(workdir=work, figures=figures, limits=limits)) as session:
        cell = session.run(
            "import os\n"
            "os.mkdir('sub'); open('sub/new', 'w').write(open('data.csv').read())\n"
            "os.chmod('sub/new', 0o4755); os.symlink('/etc/passwd', 'link')\n"
            "plt.plot([1, 2])\n"
            "print(os.getuid(), os.geteuid(), os.getgid(), os.getgroups())"
        )
        number = session.process.layers[LAYER]["uid"]
        assert cell.stdout == f"{number} {number} {number} []\n", cell
        assert number >= 61_440
        assert work.stat().st_uid == (work / "data.csv").stat().st_uid == number
        assert cell.figures == ("fig_001.png",)
    made = [*work.rglob("*"), *figures.rglob("*"), work, figures]
    assert {path.lstat().st_uid for path in made} == {os.getuid()}
    assert {path.lstat().st_gid for path in made} == {os.getgid()}
    assert (work / "sub" / "new").read_text() == "1,2\n"
    assert not (work / "sub" / "new").stat().st_mode & stat.S_ISUID
    assert Path("/etc/passwd").stat().st_uid == 0


def test_the_identity_survives_a_crash_and_a_new_process(dropping, open_session, limits):
    from dataclasses import replace

    for snapshot_mb in (1024, 0):
        session = open_session(limits=replace(limits, snapshot_mb=snapshot_mb))
        session.run("import os; mine = os.getuid(); open('kept', 'w').write('x')")
        crash = session.run("os.kill(os.getpid(), 9)")
        after = session.run("open('kept', 'a').write('y'); print(mine == os.getuid() != 0)")
        assert (crash.state.value, after.stdout) == (
            "restored" if snapshot_mb else "replayed",
            "True\n",
        ), (crash, after)


def test_folders_below_one_that_root_keeps_to_itself_can_be_reached(
    dropping, source, tmp_path, limits
):
    """And of what lies beside them, nothing is seen."""
    isolation_layers = dropping.isolation["layers"]
    if isolation_layers["session_namespaces"]["state"] != "in_force":
        pytest.skip(f"session_namespaces: {isolation_layers['session_namespaces']['reason']}")
    private = tmp_path / "private"
    work = private / "run" / "work"
    work.mkdir(parents=True)
    (private / "secret").write_text("x")
    private.chmod(0o700)
    with source.open(SessionSpec(workdir=work, figures=work, limits=limits)) as session:
        cell = session.run(
            "import os\nopen('here', 'w').write('1')\nprint(os.getcwd(), os.getuid() != 0, "
            f"os.path.exists({str(private / 'secret')!r}))"
        )
    assert cell.stdout == f"{work} True False\n", cell
    assert (work / "here").read_text() == "1"
    assert stat.S_IMODE(private.stat().st_mode) == 0o700


def test_the_limit_on_processes_counts_for_the_session_alone(dropping, open_session, limits):
    from dataclasses import replace

    session = open_session(limits=replace(limits, processes=12, wall_s=8, cell_s=4))
    cell = session.run(
        "import os, time\nborn = 0\ntry:\n    while born < 50:\n        if not os.fork(): time.sleep(60)\n"
        "        born += 1\nexcept OSError as error: print(born < 12, error.strerror)"
    )
    assert cell.stdout == "True Resource temporarily unavailable\n", cell


def test_without_the_layer_a_session_stays_root_and_says_so(tmp_path):
    options = TemplateOptions(preload=(), spares=0, layers_off=(LAYER,))
    with Template.start(options) as template, template.connect() as source:
        layer = template.isolation["layers"][LAYER]
        with source.open(SessionSpec(workdir=tmp_path, figures=tmp_path)) as session:
            cell = session.run("import os; print(os.getuid())")
    assert layer == {"state": "off", "reason": "switched off"}
    assert cell.stdout == "0\n"


def test_folders_that_cannot_be_lent_leave_the_session_as_it_was(
    dropping, source, folders, limits, monkeypatch
):
    """A file system that gives nothing away, as some that are reached over a network."""

    def refuse(*_args, **_more):
        raise PermissionError(1, "Operation not permitted")

    work, figures = folders
    monkeypatch.setattr(identity.os, "chown", refuse)
    with source.open(SessionSpec(workdir=work, figures=figures, limits=limits)) as session:
        layer = session.process.layers[LAYER]
        cell = session.run("import os; open('a', 'w').write('x'); print(os.getuid())")
    assert layer["state"] == "unavailable"
    assert layer["reason"] == "folders cannot be lent: Operation not permitted"
    assert cell.stdout == "0\n", cell


def test_two_sessions_on_one_folder_can_both_write_there(dropping, source, folders, limits):
    work, figures = folders
    spec = SessionSpec(workdir=work, figures=figures, limits=limits)
    with source.open(spec) as second:
        with source.open(spec) as first:
            first.run("open('one', 'w').write('1')")
        cell = second.run("open('one', 'a').write('2'); open('two', 'w').write('2')")
        assert cell.ok, cell
    assert (work / "one").read_text() == "12"
    assert {path.stat().st_uid for path in (work, figures, *work.iterdir())} == {0}


def test_what_a_killed_worker_left_is_taken_over(dropping, source, folders, limits):
    work, figures = folders
    (work / "old").write_text("x")
    identity.hand_over([str(work)], before=0, after=61_999)
    with source.open(SessionSpec(workdir=work, figures=figures, limits=limits)) as session:
        assert session.run("open('old', 'a').write('y')").ok
    assert (work / "old").read_text() == "xy"
    assert (work / "old").stat().st_uid == work.stat().st_uid == 0


def test_a_session_that_cannot_start_gives_its_folders_back(dropping, source, folders, monkeypatch):
    work, figures = folders

    def fail(*_args, **_more):
        raise SessionError("no process")

    monkeypatch.setattr(source, "_send_order", fail)
    with pytest.raises(SessionError, match="no process"):
        source.open(SessionSpec(workdir=work, figures=figures))
    assert work.stat().st_uid == os.getuid()


def test_a_file_that_has_another_name_elsewhere_is_not_given_away(tmp_path):
    inside, outside = tmp_path / "inside", tmp_path / "of_others"
    inside.mkdir()
    outside.write_text("x")
    os.link(outside, inside / "linked")
    (inside / "link").symlink_to(outside)
    (inside / "own").write_text("x")
    identity.hand_over([str(inside)], before=0, after=61_500)
    assert (outside.stat().st_uid, (inside / "own").stat().st_uid) == (0, 61_500)
    assert inside.stat().st_uid == (inside / "link").lstat().st_uid == 61_500


def test_numbers_of_users_groups_and_processes_are_not_taken(monkeypatch):
    monkeypatch.setattr(identity.os, "listdir", lambda path: [])  # others run sessions meanwhile
    first = identity.find_unused_ids()
    taken = type("User", (), {"pw_uid": first + 3})()
    monkeypatch.setattr(identity.pwd, "getpwall", lambda: [taken])
    assert identity.find_unused_ids() == first + identity.COUNT
    everybody = [type("User", (), {"pw_uid": n})() for n in range(61_440, 65_280, 256)]
    monkeypatch.setattr(identity.pwd, "getpwall", lambda: everybody)
    with pytest.raises(OSError, match="no unused user numbers from 61440 to 65280"):
        identity.find_unused_ids()


def test_an_interpreter_that_others_cannot_read_is_named(monkeypatch, tmp_path):
    private = tmp_path / "private"
    (private / "lib").mkdir(parents=True)
    private.chmod(0o700)
    monkeypatch.setattr(isolation, "libraries", lambda: (str(private / "lib"),))
    found = isolation.probe_identity(61_500, flags=0)
    assert found["state"] == "unavailable"
    # The outermost closed folder is named; the test's own base may be one.
    assert found["reason"].startswith("another user cannot read the interpreter below /")


def test_without_unused_numbers_or_without_root_the_layer_says_so(monkeypatch):
    assert isolation.probe_identity(None, flags=0) == {
        "state": "unavailable",
        "reason": "no unused user numbers",
    }
    monkeypatch.setattr(isolation.os, "getuid", lambda: 1000)
    found = isolation.probe_identity(None, flags=0)
    assert found == {"state": "in_force", "uid": 1000, "reason": "the run was not started by root"}
    assert not isolation.drops_root({LAYER: found})
