import pytest

from scisolve_batch.errors import SuiteError
from scisolve_batch.suite import load_suite, write_lock


def write(folder, *names, statement="Say", version="1"):
    entries = "".join(
        f"  - {{id: {name}, statement: {statement} {name}., values: [{{name: x, value: '1', exact: true}}]}}\n"
        for name in names
    )
    (folder / "s.yaml").write_text(f"id: s\nversion: '{version}'\nproblems:\n{entries}")
    return folder / "s.yaml"


def test_a_locked_suite_is_pinned_until_its_content_changes(tmp_path):
    file = write(tmp_path, "a", "b")
    assert load_suite(file).ref.pin == "none"
    assert write_lock(file) == tmp_path / "s.lock"
    assert load_suite(file).ref.pin == "pinned"


def test_a_difference_names_the_problems_and_the_ways_on(tmp_path):
    file = write(tmp_path, "a", "b")
    write_lock(file)
    write(tmp_path, "b", "c", "d", statement="Tell")
    with pytest.raises(SuiteError) as caught:
        load_suite(file)
    message = str(caught.value)
    assert message.startswith(f"{file}: the suite differs from its lock s.lock: ")
    assert "1 problem changed (b); 2 problems added (c, d); 1 problem removed (a)" in message
    assert "--unpinned" in message
    assert f"`scisolve-batch suite lock {file}`" in message


def test_a_difference_can_be_accepted_and_is_recorded(tmp_path):
    file = write(tmp_path, "a")
    write_lock(file)
    write(tmp_path, "a", statement="Tell")
    assert load_suite(file, unpinned=True).ref.pin == "unpinned"
    write(tmp_path, "a", statement="Tell", version="2")
    write_lock(file)
    assert load_suite(file).ref.pin == "pinned"


def test_another_grader_is_a_difference(tmp_path):
    file = write(tmp_path, "a")
    lock = write_lock(file)
    lock.write_text(lock.read_text().replace("numeric-v1", "numeric-v0"))
    with pytest.raises(SuiteError, match="graded by numeric-v1, was numeric-v0"):
        load_suite(file)


def test_a_damaged_lock_is_an_error_and_not_a_pin(tmp_path):
    file = write(tmp_path, "a")
    lock = write_lock(file)
    lock.write_text(lock.read_text().replace("digest:", "digset:"))
    with pytest.raises(SuiteError, match=r"s\.lock:6: digset: unknown key; did you mean `digest`"):
        load_suite(file)


def test_a_lock_written_twice_is_the_same_file(tmp_path):
    file = write(tmp_path, "b", "a")
    first = write_lock(file).read_bytes()
    write(tmp_path, "a", "b")
    assert write_lock(file).read_bytes() == first


def test_content_that_changed_under_the_same_version_is_not_pinned(tmp_path):
    file = write(tmp_path, "a", "b", "c")
    before = write_lock(file).read_bytes()
    write(tmp_path, "a", "b", statement="Tell")
    with pytest.raises(SuiteError) as caught:
        write_lock(file)
    message = str(caught.value)
    assert (
        'what was locked in s.lock is not the same any more, and the suite still has version "1"'
        in message
    )
    lines = [line.strip() for line in message.splitlines() if "->" in line]
    assert [line.split(":")[0] for line in lines] == ["a", "b", "c"]
    assert lines[2].endswith("-> removed")
    assert "Raise `version`" in message and "--force" in message
    assert (tmp_path / "s.lock").read_bytes() == before
    write_lock(file, force=True)
    assert load_suite(file).ref.pin == "pinned"


def test_added_problems_and_a_new_version_are_pinned(tmp_path):
    file = write(tmp_path, "a")
    write_lock(file)
    write(tmp_path, "a", "b")
    write_lock(file)
    write(tmp_path, "a", statement="Tell", version="2")
    write_lock(file)
    assert load_suite(file).ref.pin == "pinned"


def test_a_damaged_lock_is_only_written_anew_by_force(tmp_path):
    file = write(tmp_path, "a")
    lock = write_lock(file)
    lock.write_text("broken: true\n")
    with pytest.raises(SuiteError, match="--force writes it anew"):
        write_lock(file)
    write_lock(file, force=True)
    assert load_suite(file).ref.pin == "pinned"
