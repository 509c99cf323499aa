"""The small parts: frames, slots, notes, filters, the folder watch, and what importing costs."""

import multiprocessing
import os
import struct
import subprocess
import sys
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisolve_batch.executor import ExecutionLimits, landlock, linux, notes, seccomp, wire
from scisolve_batch.executor.attempt import Outcome
from scisolve_batch.executor.launch import scrub
from scisolve_batch.executor.slots import Slots
from scisolve_batch.executor.watch import measure_folder
from scisolve_batch.records import CellStatus, SessionState

# ---- frames --------------------------------------------------------------------------

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda v: st.lists(v, max_size=3)
)


@settings(max_examples=40, deadline=None)
@given(
    messages=st.lists(
        st.dictionaries(st.text(min_size=1).filter(lambda k: k != "fds"), json_values), max_size=4
    )
)
def test_messages_arrive_as_they_were_sent(messages):
    here, there = wire.pair()
    inbox = wire.Inbox(there, limit=1 << 20)
    try:
        for message in messages:
            wire.send(here, message)
        assert [inbox.receive().message for _ in messages] == messages
    finally:
        inbox.close()
        here.close()


def test_descriptors_come_with_their_own_message():
    here, there = wire.pair(credentials=True)
    inbox = wire.Inbox(here, limit=1000, peer=os.getpid() if linux.AVAILABLE else None)
    readers = []
    try:
        for number in range(3):
            reader, writer = os.pipe()
            os.write(writer, b"%d" % number)
            wire.send(there, {"op": number}, fds=(reader,))
            os.close(reader)
            os.close(writer)
        for number in range(3):
            frame = inbox.receive()
            readers += frame.fds
            assert frame.message["op"] == number
            assert os.read(frame.fds[0], 10) == b"%d" % number
            assert not os.get_inheritable(frame.fds[0])
    finally:
        for fd in readers:
            os.close(fd)
        inbox.close()
        there.close()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (struct.pack("<I", 2000), "more than 1000 bytes"),
        (struct.pack("<I", 2) + b"[]", "no JSON object"),
        (struct.pack("<I", 2) + b"\xff\xff", "no JSON"),
        (struct.pack("<I", 9) + b'{"fds":1}', "without its descriptors"),
        (struct.pack("<I", 10) + b'{"fds":-1}', "without its descriptors"),
    ],
)
def test_what_is_no_frame_is_refused(data, message):
    here, there = wire.pair()
    inbox = wire.Inbox(there, limit=1000)
    try:
        here.sendall(data)
        with pytest.raises(wire.Broken, match=message):
            inbox.receive()
    finally:
        inbox.close()
        here.close()


def test_the_end_of_the_other_side_is_an_end():
    here, there = wire.pair()
    inbox = wire.Inbox(there, limit=1000)
    here.close()
    with pytest.raises(wire.Closed):
        inbox.receive()
    with pytest.raises(wire.Closed):
        wire.send(there, {"op": "x"})
    inbox.close()


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel names senders on Linux")
def test_bytes_from_a_stranger_are_thrown_away_and_counted():
    here, there = wire.pair(credentials=True)
    inbox = wire.Inbox(here, limit=1000, peer=os.getpid())
    try:
        pid = os.fork()
        if pid == 0:
            wire.send(there, {"op": "forged"})
            os._exit(0)
        os.waitpid(pid, 0)
        wire.send(there, {"op": "own"})
        assert inbox.receive().message == {"op": "own"}
        assert inbox.strangers == 1
    finally:
        inbox.close()
        there.close()


# ---- slots ---------------------------------------------------------------------------


def test_a_slot_is_held_by_one_at_a_time(tmp_path):
    slots = Slots(tmp_path, count=2)
    most, now, lock = 0, 0, threading.Lock()

    def work():
        nonlocal most, now
        with slots.hold():
            with lock:
                now += 1
                most = max(most, now)
            time.sleep(0.02)
            with lock:
                now -= 1

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 2


def _hold_and_hang(slots, ready):
    with slots.hold():
        ready.put(1)
        time.sleep(60)


def test_the_slot_of_a_killed_worker_is_free_again(tmp_path):
    slots = Slots(tmp_path, count=1)
    context = multiprocessing.get_context("fork")
    ready = context.SimpleQueue()
    worker = context.Process(target=_hold_and_hang, args=(slots, ready))
    worker.start()
    ready.get()
    worker.kill()
    worker.join()
    ready.close()
    with slots.hold():
        pass


def test_no_slots_and_a_finished_run_never_wait(tmp_path):
    with Slots(tmp_path, count=0).hold():
        pass
    slots = Slots(tmp_path, count=1)
    slots.paths[0].unlink()
    with slots.hold():
        pass


# ---- notes ---------------------------------------------------------------------------

STACK = """Thread 0x01 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 10 in wait

Current thread 0x02 (most recent call first):
  File "/x/site-packages/numpy/linalg/_linalg.py", line 1827 in svd
  File "<cell 4>", line 3 in step
  File "<cell 4>", line 9 in <module>
  File "/y/executor/child.py", line 1 in run
"""


@pytest.mark.parametrize(
    ("stack", "place"),
    [
        (STACK, "in line 3, inside numpy.linalg.svd"),
        ('  File "<cell 4>", line 2 in <module>\n', "in line 2"),
        (STACK.replace("<cell 4>", "<cell 1>"), ""),
        ("", ""),
        ("garbage \x00 File", ""),
    ],
)
def test_the_place_of_a_kill_is_read_from_the_stack(stack, place):
    assert notes.locate(stack, index=4) == place


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "its process ended with exit code 0"),
        (-11, "its process was ended by SIGSEGV"),
        (-64, "its process was ended by SIGRTMAX"),
        (-99, "its process was ended by signal 99"),
        (None, "its process ended"),
    ],
)
def test_an_end_is_put_into_words(code, words):
    assert notes.describe_end(code) == words


@pytest.mark.parametrize("status", CellStatus)
@pytest.mark.parametrize("state", SessionState)
def test_every_ending_has_a_note_or_is_ordinary(status, state):
    note = notes.explain(
        Outcome(status=status), index=1, limits=ExecutionLimits(), state=state, rebuilt="why"
    )
    assert bool(note) == (status not in {CellStatus.OK, CellStatus.ERROR})


# ---- filters and folders -------------------------------------------------------------


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_every_jump_of_the_filter_stays_inside_and_it_ends_by_returning(machine):
    code = seccomp.assemble(machine)
    steps = [struct.unpack("HBBI", code[i : i + 8]) for i in range(0, len(code), 8)]
    jumps, returns = {0x15, 0x35, 0x45}, 0x06
    for place, (kind, yes, no, _) in enumerate(steps):
        if kind in jumps:
            assert place + 1 + max(yes, no) < len(steps)
    assert steps[-1][0] == returns
    assert len(steps) < 4096  # BPF_MAXINSNS


def test_no_processor_means_no_filter():
    with pytest.raises(KeyError):
        seccomp.assemble("z80")


@pytest.mark.parametrize(("abi", "count"), [(1, 13), (2, 14), (3, 15), (4, 15), (5, 16), (7, 16)])
def test_landlock_asks_only_for_what_a_kernel_knows(abi, count):
    assert landlock.handled_rights(abi) == (1 << count) - 1


def test_a_folder_is_measured_without_following_links(tmp_path):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "data").write_bytes(b"x" * 100_000)
    (tmp_path / "loop").symlink_to(tmp_path)
    used, count = measure_folder(tmp_path)
    assert (100_000 <= used < 200_000, count) == (True, 4)
    assert measure_folder(tmp_path / "gone") == (0, 0)


def test_the_environment_of_model_code_is_made_from_a_short_list():
    given_names = {
        "PATH": "/bin", "LANG": "C", "LC_ALL": "C", "TZ": "UTC", "HOME": "/h",
        "ANTHROPIC_API_KEY": "k", "AWS_PROFILE": "p", "PYTHONPATH": "x", "LD_PRELOAD": "y.so",
        "http_proxy": "p", "SSH_AUTH_SOCK": "s", "GITHUB_TOKEN": "t",
    }  # fmt: skip
    names = scrub(given_names, blas_threads=1)
    assert {n for n in names if n in given_names} == {"PATH", "LANG", "LC_ALL", "TZ", "HOME"}
    assert names["OPENBLAS_NUM_THREADS"] == "1"


def test_importing_the_executor_loads_no_scientific_library():
    code = (
        "import sys, scisolve_batch.executor as e\n"
        "assert 'pydantic' not in sys.modules\n"
        "e.Template\n"
        "heavy = {'numpy', 'scipy', 'matplotlib', 'pandas', 'pyarrow', 'anthropic'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "try: e.nothing\nexcept AttributeError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "has no attribute 'nothing'" in run.stdout
