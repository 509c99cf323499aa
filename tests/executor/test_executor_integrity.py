"""A cell that answers for itself, garbles the protocol or lets another process speak."""

from scisolve_batch.records import CellStatus, SessionState

FIND = (
    "import gc, json, os, struct\n"
    "from scisolve_batch.executor import child, wire\n"
    "me = next(o for o in gc.get_objects() if isinstance(o, child.Child))\n"
    "import sys\nframe = sys._getframe()\n"
    "while 'order' not in frame.f_locals: frame = frame.f_back\n"
    "nonce = frame.f_locals['order']['nonce']\n"
)


def test_a_forged_answer_changes_nothing_but_the_trust(session):
    session.run("v = 1")
    cell = session.run(
        FIND + "me.say({'op': 'done', 'nonce': nonce, 'status': 'ok', 'stdout': 'forged 42'})\n"
        "print('real')\nraise ValueError('this cell failed')"
    )
    assert cell.status is CellStatus.ERROR
    assert cell.stdout == "real\n"
    assert (cell.integrity, cell.ok) == (False, False)
    assert "tampered with" in cell.note
    after = session.run("print(v)")
    assert (after.stdout, after.integrity, after.ok) == ("1\n", False, False)


def test_a_forged_answer_does_not_outlive_a_cell_that_hangs(session):
    cell = session.run(
        FIND + "me.say({'op': 'done', 'nonce': nonce, 'status': 'ok'})\nimport time\ntime.sleep(60)"
    )
    assert cell.integrity is False
    assert cell.status is not CellStatus.OK


def test_an_answer_with_a_guessed_nonce_is_noticed(session):
    cell = session.run(FIND + "me.say({'op': 'done', 'nonce': 'guess', 'status': 'ok'})")
    assert (cell.status, cell.integrity) == (CellStatus.OK, False)


def test_an_answer_from_another_process_is_thrown_away(session):
    cell = session.run(
        FIND + "fd = os.dup(me.inbox.sock.fileno())\nimport socket\n"
        "if os.fork() == 0:\n"
        "    s = socket.socket(fileno=fd)\n"
        "    wire.send(s, {'op': 'done', 'nonce': nonce, 'status': 'ok'})\n    os._exit(0)\n"
        "os.wait(); raise ValueError('failed')"
    )
    assert (cell.status, cell.integrity) == (CellStatus.ERROR, False)
    assert "another process" in cell.note


def test_a_snapshot_that_the_cell_offers_is_refused(session):
    session.run("v = 1")
    cell = session.run(
        FIND + "import socket\na, b = socket.socketpair()\n"
        "wire.send(me.inbox.sock, {'op': 'snapshot', 'cell': 2, 'threads': []}, fds=(a.fileno(),))"
    )
    assert cell.integrity is False
    assert session.run("import os; os.abort()").state is SessionState.RESTORED
    assert session.run("print(v)").stdout == "1\n"


def _garbled(session, code):
    session.run("v = 1")
    cell = session.run(FIND + code + "\nimport time; time.sleep(60)")
    assert (cell.status, cell.state) == (CellStatus.PROTOCOL, SessionState.RESTORED), cell
    assert session.run("print(v)").stdout == "1\n"
    return cell


def test_an_oversized_reply_ends_the_cell(session):
    cell = _garbled(session, "me.inbox.sock.sendall(struct.pack('<I', 2**31) + b'x' * 1000)")
    assert "more than 262144 bytes" in cell.note


def test_a_reply_that_is_no_json_ends_the_cell(session):
    assert (
        "no JSON"
        in _garbled(session, "me.inbox.sock.sendall(struct.pack('<I', 5) + b'hello')").note
    )


def test_a_deeply_nested_reply_ends_the_cell(session):
    _garbled(session, "me.inbox.sock.sendall(struct.pack('<I', 100000) + b'[' * 100000)")


def test_a_reply_without_its_descriptors_ends_the_cell(session):
    _garbled(session, "me.say({'op': 'snapshot', 'fds': 3})")


def test_an_unfinished_reply_does_not_hold_up_the_limit(session):
    cell = session.run(FIND + "me.inbox.sock.sendall(b'\\x10')\nimport time\ntime.sleep(60)")
    assert cell.status in {CellStatus.PROTOCOL, CellStatus.SOFT_TIMEOUT, CellStatus.HARD_TIMEOUT}


def test_invented_figures_are_not_believed(session):
    cell = session.run(
        FIND + "real = me._keep_figures\n"
        "me._keep_figures = lambda order: (['../../etc/passwd', 'fig_009.png', 7], [])"
    )
    assert (cell.ok, cell.figures) == (True, ())
