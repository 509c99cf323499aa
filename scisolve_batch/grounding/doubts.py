"""Second looks at judged numbers: a name that does not fit, a coincidence, an unprinted result.

A doubt is a warning. It fails a literal only where the digits tell the same story: the number of
the sentence's own label, with the wrong sign or the wrong power of ten.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from scisolve_batch.grounding.items import CONTEXT, Item, Kind
from scisolve_batch.grounding.judged import Judged, Page
from scisolve_batch.grounding.match import chance_of, supports
from scisolve_batch.grounding.names import Label
from scisolve_batch.grounding.sources import Number, Pool
from scisolve_batch.records import Verdict

WEAK = 0.05
"""A chance of coincidence above this is warned about."""
MOST_OPERANDS = 12
"""Numbers of a sentence between which differences and ratios are looked for."""
KINSHIP = 0.35
"""A label of which this share stands in the clause is not accused."""
_PLUS_MINUS = re.compile(r"\s*(?:±|\+/-|\+-)\s*")
_VALUE_BEFORE = re.compile(
    r"(?:\b(?:is|are|was|were|be|equals?|at|to|get|gives?|gave|found|needed|took|takes|yields?)|[=≈~:|(])[\s*`$]*$",
    re.IGNORECASE,
)
_NOUN_AFTER = re.compile(r"[\s-]?(?!(?:for|as|in|and|or|with|at|when|which|on)\b)[A-Za-z×^]")
_HALF = Decimal("0.5")


def doubt_names(page: Page, pool: Pool, *, strict: bool) -> None:
    """Warn where a number stands under another number's name; under `strict` it fails."""
    for at, judged in enumerate(page.judged):
        if not _is_quote(judged, page, at):
            continue
        rival = _find_rival(judged, page, pool)
        if rival is None:
            continue
        label, number = rival
        if judged.verdict is Verdict.GROUNDED and judged.item.value:
            reason = _same_digits(judged.item, number)
            if reason:
                judged.fail(reason, number)
                continue
        own = pool.names.label(judged.chosen.number) if judged.chosen else None
        printed = (
            f"it is printed under `{own.text}`" if own else "nothing of that name was printed so"
        )
        note = f"name: {printed}, while `{label.text}` is {number.text}"
        if strict:
            judged.fail("name", number)
        judged.warnings = (*judged.warnings, note)


def _is_quote(judged: Judged, page: Page, at: int) -> bool:
    """Whether a literal reports a value, so that its name can be asked for."""
    item = judged.item
    if judged.verdict not in (Verdict.GROUNDED, Verdict.STRUCTURAL):
        return False
    if (
        item.kind is Kind.NAME
        or item.error
        or item.why in ("reference", "place", "marker", "level")
    ):
        return False
    text = page.reading.text.clean
    if at and _PLUS_MINUS.fullmatch(text, page.judged[at - 1].item.end, item.start):
        return False  # an uncertainty is printed under a name of its own
    return not item.small or in_value_position(item, text)


def in_value_position(item: Item, text: str) -> bool:
    """Whether a number stands where a result stands: `is 5`, `(5)`, `5 for`, not `two cases`."""
    before = text[max(0, item.start - 24) : item.start]
    return bool(_VALUE_BEFORE.search(before)) and not _NOUN_AFTER.match(text, item.end)


def _find_rival(judged: Judged, page: Page, pool: Pool) -> tuple[Label, Number] | None:
    names = pool.names
    clause = page.own_words(judged)
    if judged.chosen:
        if pool.texts[judged.chosen.number.source].cell is None:
            return None
        for one in judged.matches[:50]:
            whole = one.number.integer or not judged.item.small
            if whole and names.fit(names.label(one.number), clause) > KINSHIP:
                return None
    for label in names.rivals(clause):
        number = label.numbers[0]
        if any(supports(judged.item, one) for one in label.numbers[:50]):
            return None
        if judged.verdict is Verdict.STRUCTURAL and not number.integer:
            continue
        return label, number
    return None


def _same_digits(item: Item, number: Number) -> str:
    """`sign` or `scale` when only that separates a literal from a number."""
    value, other = item.value, number.value
    half = _HALF.scaleb(item.place, CONTEXT)
    if other and abs(CONTEXT.add(value, other)) <= half and item.place >= number.place:
        return "sign"
    shift = value.adjusted() - other.adjusted() if other else 0
    for power in (shift - 1, shift, shift + 1):
        if power and len(value.as_tuple().digits) >= 2:
            moved = CONTEXT.subtract(value.scaleb(-power, CONTEXT), other)
            if abs(moved) <= half.scaleb(-power, CONTEXT):
                return "scale"
    return ""


def doubt_coincidences(page: Page, pool: Pool) -> None:
    """Note the chance of a coincidence, and warn where it is large."""
    for judged in page.judged:
        if judged.verdict is not Verdict.GROUNDED or judged.chosen is None:
            continue
        judged.chance = chance_of(judged.item, pool)
        if judged.chance > WEAK and judged.score <= 0:
            judged.warnings = (
                *judged.warnings,
                f"weak: an invented number of these digits matches with probability {judged.chance:.0%}",
            )


def explain_derived(page: Page) -> None:
    """Name the pair of printed numbers in the same sentence that an unprinted result follows from."""
    for judged in page.judged:
        if (
            judged.verdict is not Verdict.UNGROUNDED
            or judged.reason != "absent"
            or judged.item.exact
        ):
            continue
        operands = _operands(judged, page)
        found = next(_derivations(judged.item, operands), None)
        if found:
            judged.reason, judged.note = "derived", f"pair: {found}"


def _operands(judged: Judged, page: Page) -> list[Number]:
    first, last = page.clauses.around(judged.item.start, judged.item.end)
    found: list[Number] = []
    for one in page.judged:
        inside = first <= one.item.start < last
        if inside and one.chosen and one is not judged and one.chosen.number not in found:
            found.append(one.chosen.number)
    return found[:MOST_OPERANDS]


def _derivations(item: Item, operands: Sequence[Number]) -> Iterator[str]:
    for at, first in enumerate(operands):
        for second in operands[at + 1 :]:
            x, y = first.value, second.value
            for shown, value in _results(first, second, x, y):
                for shift in item.shifts:
                    unit = _HALF.scaleb(item.place + shift, CONTEXT)
                    mine = abs(item.value.scaleb(shift, CONTEXT))
                    if abs(CONTEXT.subtract(mine, abs(value))) <= unit:
                        yield shown


def _results(
    first: Number, second: Number, x: Decimal, y: Decimal
) -> Iterator[tuple[str, Decimal]]:
    a, b = first.text, second.text
    yield f"{a} - {b}", CONTEXT.subtract(x, y)
    yield f"{a} + {b}", CONTEXT.add(x, y)
    for top, bottom, shown in ((x, y, f"{a} / {b}"), (y, x, f"{b} / {a}")):
        if bottom:
            ratio = CONTEXT.divide(top, bottom)
            yield shown, ratio
            yield f"{shown} - 1", CONTEXT.subtract(ratio, Decimal(1))
    yield f"{a} * {b}", CONTEXT.multiply(x, y)


def check_printed_units(page: Page, pool: Pool) -> None:
    """Fail a prefix that no source has: `23.3 g` for a number printed bare, in a problem about kg."""
    for judged in page.judged:
        if judged.verdict is Verdict.GROUNDED and judged.chosen and judged.item.unit:
            if any(pool.unit(one.number) for one in judged.matches):
                continue
            known = pool.only_unit(judged.item.unit, judged.chosen.number)
            if known:
                judged.fail("unit", judged.chosen.number)
                judged.note = f"unit: the problem uses {known}"
