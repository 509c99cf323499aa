"""The board: what one process writes, others read, whole or not at all."""

import os
import time
from time import monotonic

from scisolve_batch.batch.board import Board, Hold


def test_a_forked_process_writes_and_the_other_reads():
    board = Board()
    assert board.read() is None
    before = time.time()
    pid = os.fork()
    if pid == 0:
        board.write("cell 3")
        os._exit(0)
    os.waitpid(pid, 0)
    doing, since = board.read()
    assert doing == "cell 3" and before <= since <= time.time()
    board.write("rate limit")
    assert board.read()[0] == "rate limit"
    board.close()


def test_a_line_that_is_being_written_is_not_read_by_half():
    board = Board()
    board.write("cell 1")
    board._page[14] ^= 1  # as if the writer had come so far
    assert board.read() is None
    board.write("x" * 500)
    assert board.read()[0] == "x" * 120
    board.close()


def test_a_hold_is_seen_in_every_process_and_named_on_its_board():
    hold, board = Hold(), Board()
    assert hold.watch(board) == 0.0
    assert board.read()[0] == "model"
    until = monotonic() + 1000.0
    child = os.fork()
    if child == 0:
        hold.write(until)
        os._exit(0)
    os.waitpid(child, 0)
    assert hold.watch(board) == until
    assert board.read()[0] == "rate limit"
    hold.close()
    board.close()
