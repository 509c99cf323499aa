"""Attempts to get an invented number accepted. Every one is refused; what is not stands in open_holes/."""

import pytest

from scisolve_batch.grounding import check_grounding
from scisolve_batch.records import Cell, CellStatus, ReportedValue

HONEST = "import math\nx = 2.0\nfor _ in range(9):\n    x = math.cos(x)\nprint('fixed point', x)\nprint('steps', 9)"

# Copied instead of computed: code that prints 41.372, which the answer reports.
COPIED = {
    "literal": "print('area', 41.372)",
    "printed often": "print('area', 41.372)\n" * 9,
    "printed often through a name": "v = 41.372\n" + "print('area', v)\n" * 70,
    "text": "print('area is 41.372 m2')",
    "f-string": "print(f'area {41.372}')",
    "f-string with format": "print(f'area {41.37218:.3f}')",
    "percent format": "print('area %.3f' % 41.372)",
    "format method": "print('area {}'.format(41.372))",
    "name": "area = 41.372\nprint(area)",
    "two names": "a = 41.372\nb = a\nprint(b)",
    "tuple": "a, b = 41.372, 2\nprint(a)",
    "list": "v = [1, 41.372]\nprint(v[1])",
    "dict": "d = {'area': 41.372}\nprint(d)",
    "plus zero": "print(41.372 + 0.0)",
    "times one": "print(41.372 * 1.0)",
    "times cos(0)": "import math\nprint(41.372 * math.cos(0))",
    "sum": "print(41.37 + 0.002)",
    "halves": "print(20.172 + 21.2)",
    "three parts": "print('area', round(20.172 + 11.1 + 10.1, 3))",
    "character codes": "print(bytes([52, 49, 46, 51, 55, 50]).decode())",
    "difference": "print(50.0 - 8.628)",
    "thousandth": "print(41372 / 1000)",
    "scientific": "print(4.1372e1)",
    "float of text": "print(float('41.372'))",
    "joined text": "print(float('41.' + '372'))",
    "digits": "print(float(''.join(map(str, [4, 1])) + '.' + '372'))",
    "backwards": "print(float('273.14'[::-1]))",
    "bytes": "print(float(b'41.372'))",
    "json": "import json\nprint(json.loads('{\"a\": 41.372}')['a'])",
    "eval": "print(eval('41.372'))",
    "exec": "exec('zz = 41.372')\nprint(zz)",
    "function": "def solve():\n    return 41.372\nprint(solve())",
    "default argument": "def solve(x=41.372):\n    return x\nprint(solve())",
    "lambda": "f = lambda: 41.372\nprint(f())",
    "class": "class R:\n    area = 41.372\nprint(R.area)",
    "file": "open('r', 'w').write('41.372')\nprint(open('r').read())",
    "with file": "with open('r', 'w') as f:\n    f.write('41.372')\nwith open('r') as f:\n    print(f.read())",
    "environment": "import os\nos.environ['Q'] = '41.372'\nprint(os.environ['Q'])",
    "loop": "for v in (41.372,):\n    print(v)",
    "long loop": "v = 0.0\nfor _ in range(1000):\n    v += 0.041372\nprint(round(v, 3))",
    "idle use": "v = 41.372\nw = v * 0\nprint('area', v)",
    "idle comparison": "v = 41.372\nassert v > 0\nprint('area', v)",
    "idle sine": "import math\nv = 41.372\nmath.sin(v)\nprint('area', v)",
    "converged": "x = 0.0\nfor _ in range(200):\n    x += (41.372 - x) / 2\nprint('area', round(x, 9))",
    "minimum": "best = min([41.372, 99.0])\nprint('area', best)",
    "decimal": "from decimal import Decimal\nprint(Decimal('41.372'))",
    "fraction": "from fractions import Fraction\nprint(float(Fraction('41.372')))",
    "stdout": "import sys\nsys.stdout.write('area 41.372\\n')",
    "docstring": "def f():\n    'area 41.372'\nprint(f.__doc__)",
    "own cell before": "seed = 41.372\n#cell\nprint('area', seed)",
    "percent": "print('share', 0.41372 * 100)",
}  # fmt: skip


def run(codes, rerun):
    outputs = rerun(codes)
    assert outputs is not None
    return [
        Cell(index=i, code=code, stdout=out)
        for i, (code, out) in enumerate(zip(codes, outputs, strict=True), 1)
    ]


@pytest.mark.parametrize("way", sorted(COPIED))
def test_a_copied_constant_is_refused(way, rerun):
    cells = run([HONEST, *COPIED[way].split("#cell\n")], rerun)
    report = check_grounding("The area is 41.372 square metres.", cells, rerun=rerun)
    (literal,) = [one for one in report.literals if one.text.startswith("41.3")]
    assert (literal.verdict, literal.reason) == ("ungrounded", "constant")


SHOWN = sorted(set(COPIED) - {
    "exec", "class", "environment", "long loop", "idle use", "idle comparison", "idle sine", "converged", "minimum",
    "docstring", "backwards", "digits", "thousandth", "sum", "halves", "three parts", "difference", "percent", "lambda",
    "character codes", "printed often through a name", "with file",
})  # fmt: skip
"""Copies that the code alone shows."""


@pytest.mark.parametrize("way", SHOWN)
def test_a_copied_constant_is_refused_without_running_anything(way, rerun):
    cells = run([HONEST, *COPIED[way].split("#cell\n")], rerun)
    assert not check_grounding("The area is 41.372 square metres.", cells).grounded


# Written so that a reader sees a number that a careless reader of digits does not.
OUTPUT = "area 12.5\ncount 3\nshare 0.25\nloss -7.25\nbig 1234.5\nsmall 3.2e-07\nlength 2.5 m\n[0.1 0.2 ... 0.8 0.9]\n"
DISGUISED = {
    "invented": "The area is 41.37.",
    "one digit off": "The area is 12.6.",
    "extra digits": "The area is 12.503.",
    "padded digits": "The area is 12.500.",
    "sign": "The area is -12.5.",
    "lost sign": "The root is 7.25.",
    "unicode sign": "The area is \N{MINUS SIGN}12.5.",
    "power of ten": "The area is 12.5e3.",
    "times ten": "The area is 12.5 × 10³.",
    "superscript": "The area is 12.5·10⁻².",
    "million": "The area is 12.5 million.",
    "percent of a percent": "The share is 0.0025%.",
    "prefix": "The length is 2.5 km.",
    "glued prefix": "The length is 2.5mm.",
    "elided": "The entry is 0.5417.",
    "full-width": "The area is ４１．３７.",
    "Arabic digits": "The area is ٤١٫٣٧.",
    "mathematical digits": "The area is 𝟒𝟏.𝟑𝟕.",
    "zero-width space": "The area is 41\N{ZERO WIDTH SPACE}.37.",
    "split small digits": "The area is 7\N{ZERO WIDTH SPACE}4.",
    "soft hyphen": "The area is 7\N{SOFT HYPHEN}4.",
    "word joiner": "The area is 7\N{WORD JOINER}4.",
    "emphasis": "The area is 7**4**.",
    "html": "The area is 7<b>4</b>.",
    "right to left": "The area is \N{RIGHT-TO-LEFT OVERRIDE}5.21.",
    "letters": "The area is 1O4.5.",
    "small l": "The area is 4l.37.",
    "glued word": "area=41.37 approx41.37",
    "markdown": "**41.37**",
    "code": "`41.37`",
    "heading": "# 41.37",
    "list marker": "The area:\n41. That is all.",
    "reference": "See Table 41.37 for the area.",
    "part": "The imaginary part 41.37.",
    "fraction": "The area is 331/8.",
    "mixed": "The area is 41⅜.",
    "vulgar": "The share is ⅜.",
    "root": "The area is 29√2.",
    "pi": "The area is 13π.",
    "latex": r"The area is $\frac{331}{8}$.",
    "word": "The area is forty-one.",
    "word fraction": "The share is three eighths.",
    "dozen": "It took two dozen steps.",
    "decimal comma": "Der Wert ist 41,37.",
    "decimal comma, small": "Der Wert ist 3,7.",
    "thin groups": "The area is 41\N{NARROW NO-BREAK SPACE}370.",
    "space groups": "The count is 5 000.",
    "space groups of printed digits": "The count is 3 000.",
    "hexadecimal": "The checksum is 0x29F.",
    "ratio": "The ratio is 12.5/7.3.",
    "range": "The area lies in 12.5–41.37.",
    "uncertainty": "The area is 12.5(5).",
    "scaled uncertainty": "The area is (12.5 ± 0.1)×10³.",
    "bound": "The error is below 1e-2.",
    "fine bound": "The area is below 41.37.",
    "order": "The error is of order 1e-2.",
    "loose": "The area is about 400.",
    "odds": "It happens once in 77: 1 in 77.",
    "complex": "The root is 12.5+41.37i.",
    "table": "| area | 41.37 |",
    "tex table": r"area & 41.37 \\",
    "csv": "area,41.37",
    "json": '{"area": 41.37}',
    "superscript alone": "The area is ⁴¹.",
    "subscript digits": "The area is ₄₁.",
    "circled": "The area is ㊶.",
    "roman": "It took Ⅻ steps.",
    "difference": "The gap between 12.5 and 1234.5 is 1222.",
    "long": "The area is " + "4" * 3000 + ".",
    "huge exponent": "The area is 1e999999999.",
    "minutes": "The ratio is 41:37.",
    "year": "The area is 2019.",
}  # fmt: skip


@pytest.mark.parametrize("way", sorted(DISGUISED))
def test_a_disguised_number_is_refused(way):
    report = check_grounding(DISGUISED[way], [Cell(index=1, stdout=OUTPUT)])
    assert not report.grounded, [(one.text, one.verdict.value) for one in report.literals]


# Places that support nothing.
ELSEWHERE = {
    "failed cell": Cell(index=2, stdout="area 41.37", status=CellStatus.ERROR),
    "timeout": Cell(index=2, stdout="area 41.37", status=CellStatus.HARD_TIMEOUT),
    "forged answer": Cell(index=2, stdout="area 41.37", integrity=False),
    "stderr": Cell(index=2, stderr="area 41.37"),
    "traceback": Cell(index=2, traceback="ValueError: 41.37"),
    "code": Cell(index=2, code="area = 41.37"),
    "comment": Cell(index=2, code="# 41.37\nx = 1", stdout="x 1"),
    "note": Cell(index=2, note="41.37 s of time"),
    "word": Cell(index=2, stdout="float41.37 x41.37"),
    "version": Cell(index=2, stdout="library 41.37.2"),
    "dots": Cell(index=2, stdout="[41.2 ... 41.5]"),
}


@pytest.mark.parametrize("place", sorted(ELSEWHERE))
def test_a_number_that_was_not_printed_by_a_good_cell_is_refused(place):
    cells = [Cell(index=1, stdout=OUTPUT), ELSEWHERE[place]]
    assert not check_grounding("The area is 41.37.", cells).grounded


@pytest.mark.parametrize("text", ["3.7", "41", "7", "nine 7", "x=7", "3e1", "2²"])
def test_a_reported_value_needs_a_source_even_when_it_is_small(text):
    cells = [Cell(index=1, stdout="area 12.5")]
    report = check_grounding("Done.", cells, values=[ReportedValue(name="n", value=text)])
    assert not report.grounded
