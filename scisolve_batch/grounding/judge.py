"""The policy `decimal`: a literal is a printed number, shown to the literal's own last digit.

Or it follows from one by a relation that the text names (percent, prefix, bound, order, ...).

It cannot see whether a printed number is right, only that it was printed and, with a re-run,
that it was computed and not copied.
"""

from __future__ import annotations

from scisolve_batch.grounding import doubts
from scisolve_batch.grounding.items import Item, Kind
from scisolve_batch.grounding.judged import Judged, Page
from scisolve_batch.grounding.laundering import expose_copies
from scisolve_batch.grounding.literals import read_literals
from scisolve_batch.grounding.match import Match, explain_miss, find_matches
from scisolve_batch.grounding.names import cut_clauses
from scisolve_batch.grounding.policy import Question
from scisolve_batch.grounding.sources import Pool, gather
from scisolve_batch.records import Literal, Verdict

MOST_SCORED = 400
"""Matches whose labels are compared; small numbers may match thousands."""


def judge_decimal(question: Question) -> list[Literal]:
    """Judge each number of an answer by exact decimals."""
    pool = gather(question.cells, question.problem)
    pages = [_judge_text(where, text, pool) for where, text in question.texts]
    expose_copies(pages, question, pool)
    for page in pages:
        doubts.check_printed_units(page, pool)
        doubts.doubt_names(page, pool, strict=question.strict_names)
        doubts.doubt_coincidences(page, pool)
        doubts.explain_derived(page)
    return [_literal(one, page, pool) for page in pages for one in page.judged]


def _judge_text(where: str, text: str, pool: Pool) -> Page:
    reading = read_literals(text)
    page = Page(where, text, reading, cut_clauses(reading.text.clean))
    for item in reading.items:
        page.judged += _judge(item, page, pool)
    return page


def _judge(item: Item, page: Page, pool: Pool) -> list[Judged]:
    if item.kind is not Kind.NUMBER:
        decided = _without_sources(item, page)
        if decided is not None:
            return [decided]
    matches = find_matches(item, pool)
    if matches:
        return [_choose(item, matches, page, pool)]
    plain = item.small and item.why != "padded" and page.where == "answer"
    if item.kind is Kind.STRUCTURAL or plain:
        return [Judged(item, Verdict.STRUCTURAL)]
    for option in item.options:
        pieces = [_piece(one, page, pool, printed=option.printed) for one in option.items]
        if all(piece is not None for piece in pieces):
            return [piece for piece in pieces if piece is not None]
    miss = explain_miss(item, pool)
    verdict = Verdict.OVERPRECISE if miss.reason == "overprecise" else Verdict.UNGROUNDED
    return [Judged(item, verdict, miss.reason, nearest=miss.number)]


def _without_sources(item: Item, page: Page) -> Judged | None:
    """The verdict on what is no number; None for a small count that reports a result."""
    if item.kind is Kind.NAME:
        return Judged(item, Verdict.NOT_A_NUMBER)
    if item.kind is Kind.UNREAD:
        return Judged(item, Verdict.UNGROUNDED, "unread")
    result = item.why == "count" and doubts.in_value_position(item, page.reading.text.clean)
    return None if result else Judged(item, Verdict.STRUCTURAL)


def _piece(item: Item, page: Page, pool: Pool, *, printed: bool) -> Judged | None:
    matches = find_matches(item, pool)
    if matches:
        return _choose(item, matches, page, pool)
    if not printed and item.small:
        return Judged(item, Verdict.STRUCTURAL)
    return None


def _choose(item: Item, matches: list[Match], page: Page, pool: Pool) -> Judged:
    """The best label, then a cell before the problem, a number not yet quoted, the first one."""
    judged = Judged(item, Verdict.GROUNDED, matches=matches, chosen=matches[0])
    names, clause = pool.names, page.words(item)
    beside, used = page.beside(item), page.used(item)
    best: tuple[float, ...] | None = None
    for match in matches[:MOST_SCORED]:
        number = match.number
        score = names.score(names.label(number), clause)
        in_cell = pool.texts[number.source].cell is not None
        if beside is not None:  # an uncertainty stands near its value, under a label of its own
            near = number.source == beside.source
            gap = abs(number.start - beside.start) if near else 0
            rank: tuple[float, ...] = (0.0, in_cell, near, -gap)
        else:
            fresh, shifted = id(number) not in used, match.relation == "percent"
            unit = bool(item.unit) and pool.unit(number) is not None
            rank = (score, unit, in_cell, fresh, shifted, -number.source, -number.start)
        if best is None or rank > best:
            best, judged.chosen, judged.score = rank, match, score
    return judged


def _literal(judged: Judged, page: Page, pool: Pool) -> Literal:
    item = judged.item
    start, end = page.span(item)
    number = judged.chosen.number if judged.chosen else judged.nearest
    valued = item.kind is Kind.NUMBER or item.why == "count"
    literal: dict[str, object] = {
        "text": page.raw[start:end],
        "where": page.where,
        "start": start,
        "end": end,
        "value": str(item.value) if valued else None,
        "verdict": judged.verdict,
        "reason": judged.reason,
        "warnings": judged.warnings if not judged.note else (*judged.warnings, judged.note),
    }
    if judged.chosen:
        literal["relation"] = judged.chosen.relation
        literal["printed"] = judged.chosen.number.text
        literal["chance"] = None if judged.chance is None else round(judged.chance, 6)
    elif number is not None:
        literal["nearest"] = number.text
    if number is not None:
        text = pool.texts[number.source]
        label = pool.names.label(number)
        literal["source"] = "problem" if text.cell is None else "cell"
        literal["cell"] = text.cell
        literal["line"] = pool.line(number) if text.cell is not None else None
        literal["label"] = label.text if label else ""
    return Literal(**literal)
