"""How constants of the source may have become a printed number without any computation.

Each way is a guess that only a re-run confirms: when the constants change, the printed number
has to change with them, in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from scisolve_batch.grounding.constants import Constant
from scisolve_batch.grounding.items import CONTEXT
from scisolve_batch.grounding.sources import Number

FEWEST_DIGITS = 3
"""A whole number with fewer significant digits is a size or a count, not a smuggled result."""
MOST_OPERANDS = 60
_HALF = Decimal("0.5")
_NOISE = Decimal("2e-15")
_SLACK = 1e-12
"""Floats only find candidates; this widens the search, Decimals decide."""


@dataclass(frozen=True, slots=True)
class Origin:
    """A way from constants to a printed number.

    Attributes:
        groups: constants that stand for the same value and change together.
        how: `copy`, `sum`, `difference` or `join`.
        power: power of ten between the constants and the number.
        negative: the number has the other sign.
        backwards: the joined digits are read from the right.
    """

    groups: tuple[tuple[Constant, ...], ...]
    how: str
    power: int = 0
    negative: bool = False
    backwards: bool = False

    def value(self, values: Sequence[Decimal]) -> Decimal:
        """What the printed number is when the constants have these values."""
        result = values[0]
        if self.how == "sum":
            result = CONTEXT.add(values[0], values[1])
        elif self.how == "difference":
            result = CONTEXT.subtract(values[0], values[1])
        elif self.how == "product":
            result = CONTEXT.multiply(values[0], values[1])
        elif self.how == "join":
            parts = (group[0] for group in self.groups)
            joined = "".join(map(_written, parts, values))
            result = Decimal(joined[::-1] if self.backwards else joined)
        result = result.scaleb(self.power, CONTEXT)
        return -result if self.negative else result


def agrees(value: Decimal, number: Number) -> bool:
    """Whether a value, shown to a printed number's last digit, is that number.

    A few units of double precision are forgiven: 6.743 + 0.0002 prints as 6.743200000000001.
    """
    allowed = max(_HALF.scaleb(number.place, CONTEXT), CONTEXT.multiply(abs(value), _NOISE))
    return abs(CONTEXT.subtract(value, number.value)) <= allowed


def find_copies(number: Number, constants: Sequence[Constant]) -> Iterator[Origin]:
    """The constants that are the printed number, up to sign, rounding and a power of ten."""
    target = abs(number.value)
    if not target:
        return
    shown = _positive(number, target)
    lead, reach = _leading(target), float(_HALF.scaleb(number.place - target.adjusted(), CONTEXT))
    same: dict[int, list[Constant]] = {}
    for constant in constants:
        if not constant.value or not tells(constant):
            continue
        mine = _leading(constant.value)
        power = target.adjusted() - constant.value.adjusted()
        for step, factor in ((power, 1.0), (power + 1, 10.0), (power - 1, 0.1)):
            if abs(mine * factor - lead) > reach * (1 + _SLACK) + 10 * _SLACK:
                continue
            if agrees(constant.value.scaleb(step, CONTEXT), shown):
                same.setdefault(step, []).append(constant)
                break
    for power, group in sorted(same.items(), key=lambda one: abs(one[0])):
        yield Origin((tuple(group),), "copy", power, number.value < 0)


def find_sums(number: Number, constants: Sequence[Constant]) -> Iterator[Origin]:
    """Two constants whose sum or difference is the printed number."""
    target = abs(number.value)
    shown = _positive(number, target)
    some = [one for one in constants if one.value and (one.place < 0 or one.digits >= 2)][
        :MOST_OPERANDS
    ]
    wanted, reach = float(target), float(_HALF.scaleb(number.place, CONTEXT))
    floats = [float(one.value) for one in some]
    for at, first in enumerate(some):
        for second, other in zip(some[at + 1 :], floats[at + 1 :], strict=True):
            if max(first.digits, second.digits) < FEWEST_DIGITS:
                continue  # 1e-12 + 1e-14 is no split result
            mine = floats[at]
            off = min(abs(mine + other - wanted), abs(abs(mine - other) - wanted))
            if off > reach + (mine + other) * _SLACK:  # what is not finite is looked at
                continue
            if agrees(CONTEXT.add(first.value, second.value), shown):
                yield Origin(((first,), (second,)), "sum", 0, number.value < 0)
            large, small = (first, second) if first.value > second.value else (second, first)
            if agrees(CONTEXT.subtract(large.value, small.value), shown):
                yield Origin(((large,), (small,)), "difference", 0, number.value < 0)


def find_joins(number: Number, constants: Sequence[Constant]) -> Iterator[Origin]:
    """Neighbouring constants whose digits, one after the other, are the printed number's."""
    target = abs(number.value)
    wanted = "".join(map(str, target.as_tuple().digits)).strip("0")
    if len(wanted) < FEWEST_DIGITS:
        return
    for at, first in enumerate(constants):
        joined = ""
        for count, one in enumerate(constants[at : at + 12], 1):
            if one.cell != first.cell or len(joined) > len(wanted) + 6:
                break
            joined += _written(one, one.value)
            if not (_begins(joined, wanted) or _begins(joined, wanted[::-1])):
                break
            for backwards in (False, True):
                digits = joined[::-1] if backwards else joined
                if digits.strip("0") == wanted and (count > 1 or backwards):
                    power = target.adjusted() - Decimal(digits).adjusted()
                    groups = tuple((part,) for part in constants[at : at + count])
                    yield Origin(groups, "join", power, number.value < 0, backwards)


def _leading(value: Decimal) -> float:
    """A value with its point behind the first digit."""
    return float(value.scaleb(-value.adjusted(), CONTEXT))


def _begins(joined: str, wanted: str) -> bool:
    """Whether some digits, zeros around the whole aside, may go on to be those wanted."""
    bare = joined.lstrip("0")
    return wanted.startswith(bare) or bare.rstrip("0") == wanted


def _written(constant: Constant, value: Decimal) -> str:
    """The digits of a constant, zeros in front included, without a point."""
    whole = int(value.scaleb(-constant.place, CONTEXT))
    return f"{whole:0{constant.width}d}"


def tells(constant: Constant) -> bool:
    """Whether a constant has enough digits to be a result."""
    return constant.digits >= (FEWEST_DIGITS if constant.place >= 0 else 2)


def _positive(number: Number, target: Decimal) -> Number:
    if number.value >= 0:
        return number
    return replace(number, key=abs(number.key), given=target, digits=number.place)
