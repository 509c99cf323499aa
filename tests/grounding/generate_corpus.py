"""Makes `corpus.jsonl`: sessions that really ran, answers about them, and the truth about each number.

    python tests/grounding/generate_corpus.py [ROWS] > tests/grounding/corpus.jsonl

Ten problems from school physics to queues; about fifty ways of writing a number; honest rows and
rows with one planted fault. The same seed gives the same file.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import sys
from decimal import ROUND_DOWN, Decimal

SEED = 20260916


# ---- problems: a statement, cells, and the quantities they print -------------------------------
# A quantity is (noun phrase, printed key, unit). The key is the text before the number.


def drag(r):
    m, k = round(r.uniform(0.2, 3), 2), round(r.uniform(0.05, 0.6), 3)
    return (
        f"A ball of mass {m} kg falls with linear drag {k} kg/s. Find terminal speed and the time to 90% of it.",
        [
            f"import math\nm, k, g = {m}, {k}, 9.80665\nvt = m*g/k\nt90 = -m/k*math.log(0.1)\n"
            "print('terminal speed =', vt, 'm/s')\nprint(f'time to 90% of terminal = {t90:.6f} s')",
            "n = 2000\nv = 0.0\nh = t90/n\nfor i in range(n):\n    k1 = g-k/m*v; k2 = g-k/m*(v+h*k1/2)\n    v += h*k2\n"
            "print(f'speed ratio at t90: {v/vt:.8f}')\nprint(f'integrator error: {abs(v/vt-0.9)+1e-12:.3e}')\nprint('steps used:', n)",
        ],
        [("terminal speed", "terminal speed =", "m/s"), ("time to 90 % of the terminal speed", "of terminal =", "s"),
         ("speed ratio", "speed ratio at t90:", ""), ("integrator error", "integrator error:", ""),
         ("number of steps", "steps used:", "")],
    )  # fmt: skip


def interest(r):
    p, q = r.randrange(5000, 90000, 137), round(r.uniform(1.1, 7.9), 2)
    n = r.randrange(7, 30)
    return (
        f"A deposit of {p} dollars earns {q}% a year, compounded monthly, for {n} years. Report balance and doubling time.",
        [
            f"p, q, n = {p}, {q}/100, {n}\nbal = p*(1+q/12)**(12*n)\nimport math\ndbl = math.log(2)/math.log(1+q/12)/12\n"
            "print(json.dumps({'balance': round(bal, 2), 'doubling_years': dbl}))".replace("print(", "import json\nprint("),
            "eff = (1+q/12)**12-1\nprint('effective rate', eff)\nprint('interest earned', f'{bal-p:,.2f}')\nprint('growth factor', bal/p)",
        ],
        [("balance", '"balance":', ""), ("doubling time", '"doubling_years":', "years"), ("effective rate", "effective rate", "%"),
         ("interest earned", "interest earned", ""), ("growth factor", "growth factor", "")],
    )  # fmt: skip


def regression(r):
    xs = sorted(round(r.uniform(0, 9), 1) for _ in range(8))
    a, b = r.uniform(-3, 3), r.uniform(-2, 2)
    ys = [round(a + b * x + r.gauss(0, 0.4), 2) for x in xs]
    return (
        f"Fit a straight line to x = {xs}, y = {ys}. Report slope, intercept, their errors and the residual scatter.",
        [
            f"x = {xs}\ny = {ys}\nn = len(x)\nmx, my = sum(x)/n, sum(y)/n\nsxx = sum((u-mx)**2 for u in x)\n"
            "slope = sum((u-mx)*(w-my) for u, w in zip(x, y))/sxx\nicpt = my-slope*mx\nprint(f'slope {slope:.7f}')\nprint(f'intercept {icpt:.7f}')",
            "res = [w-icpt-slope*u for u, w in zip(x, y)]\ns = (sum(e*e for e in res)/(n-2))**.5\n"
            "print('sigma:', s)\nprint('slope error:', s/sxx**.5)\nprint('largest residual:', max(map(abs, res)))\nprint('x mean:', mx)",
        ],
        [("slope", "slope ", ""), ("intercept", "intercept ", ""), ("residual sigma", "sigma:", ""),
         ("slope error", "slope error:", ""), ("largest residual", "largest residual:", ""), ("x mean", "x mean:", "")],
    )  # fmt: skip


def circuit(r):
    lh, c, res = (
        round(r.uniform(1, 90), 1),
        round(r.uniform(0.1, 9.9), 2),
        round(r.uniform(2, 60), 1),
    )
    return (
        f"A series circuit has inductance {lh} mH, capacitance {c} µF and resistance {res} ohm. Find resonance, quality and bandwidth.",
        [
            f"from math import pi, sqrt\nL, C, R = {lh}e-3, {c}e-6, {res}\nf0 = 1/(2*pi*sqrt(L*C))\nQ = sqrt(L/C)/R\n"
            "print('resonance', f'{f0:.5f}', 'Hz')\nprint('quality', Q)",
            "bw = f0/Q\nprint(f'bandwidth = {bw:.4f} Hz')\nprint(f'damping time = {2*L/R:.6e} s')\nprint('impedance ratio', sqrt(1+Q**2*(1.1-1/1.1)**2))",
        ],
        [("resonance", "resonance", "Hz"), ("quality factor", "quality", ""), ("bandwidth", "bandwidth =", "Hz"),
         ("damping time", "damping time =", "s"), ("impedance ratio", "impedance ratio", "")],
    )  # fmt: skip


def markov(r):
    a, b = round(r.uniform(0.05, 0.4), 3), round(r.uniform(0.05, 0.4), 3)
    return (
        f"A machine breaks with probability {a} a day and is repaired with probability {b}. Long-run availability?",
        [
            f"a, b = {a}, {b}\npi_up = b/(a+b)\nprint('availability', pi_up)\nprint('mean up time', 1/a, 'days')\nprint('second eigenvalue', 1-a-b)",
            "p = 1.0\nlog = []\nfor day in range(60):\n    p = p*(1-a)+(1-p)*b\n    log.append(p)\nprint('after 60 days', f'{p:.9f}')\n"
            "print('distance', f'{abs(p-pi_up)+1e-15:.2e}')\nprint('days below half', sum(v < .5 for v in log))",
        ],
        [("availability", "availability", "%"), ("mean up time", "mean up time", "days"), ("second eigenvalue", "second eigenvalue", ""),
         ("value after 60 days", "after 60 days", ""), ("distance", "distance", "")],
    )  # fmt: skip


def kepler(r):
    e, m = round(r.uniform(0.1, 0.9), 3), round(r.uniform(0.2, 3), 3)
    return (
        f"Solve Kepler's equation for mean anomaly {m} and eccentricity {e}.",
        [
            f"import math\ne, M = {e}, {m}\nE, its = M, 0\nwhile abs(E-e*math.sin(E)-M) > 1e-14 and its < 60:\n"
            "    E -= (E-e*math.sin(E)-M)/(1-e*math.cos(E)); its += 1\nprint('E =', E)\nprint('iterations =', its)",
            "nu = 2*math.atan2(math.sqrt(1+e)*math.sin(E/2), math.sqrt(1-e)*math.cos(E/2))\nprint('true anomaly =', nu)\n"
            "print('radius =', 1-e*math.cos(E))\nlo, hi = 0.0, math.pi\nfor _ in range(60):\n    mid = (lo+hi)/2\n"
            "    lo, hi = (mid, hi) if mid-e*math.sin(mid) < M else (lo, mid)\nprint('bisection E =', f'{lo:.12f}')",
        ],
        [("eccentric anomaly E", "E =", ""), ("true anomaly", "true anomaly =", ""), ("radius", "radius =", ""),
         ("bisection result", "bisection E =", "")],
    )  # fmt: skip


def queue(r):
    lam, mu = round(r.uniform(0.3, 0.8), 2), round(r.uniform(0.9, 1.5), 2)
    seed = r.randrange(1000)
    return (
        f"Customers arrive at rate {lam} and are served at rate {mu} per minute. Compare theory with a simulation.",
        [
            f"lam, mu = {lam}, {mu}\nrho = lam/mu\nprint('load', rho)\nprint('mean queue', rho**2/(1-rho))\nprint('mean stay', 1/(mu-lam), 'min')",
            f"import random\nr = random.Random({seed})\nt = w = tot = 0.0\nN = 4000\nlate = 0\nfor _ in range(N):\n    a = r.expovariate(lam); s = r.expovariate(mu)\n"
            "    w = max(0.0, w-a)+s; tot += w; late += w > 5\nprint(f'simulated stay {tot/N:.5f} min')\nprint(f'share above 5 min {late/N:.5f}')\nprint('late customers', late)",
        ],
        [("load", "load", "%"), ("mean queue", "mean queue", ""), ("mean stay", "mean stay", "min"),
         ("simulated stay", "simulated stay", "min"), ("share above 5 min", "share above 5 min", "%"), ("number of late customers", "late customers", "")],
    )  # fmt: skip


def series(r):
    s = round(r.uniform(1.3, 3.7), 2)
    n = r.randrange(200, 4000, 7)
    return (
        f"Sum the first {n} terms of n^-{s} and estimate the tail.",
        [
            f"s, n = {s}, {n}\nz = sum(k**-s for k in range(1, n+1))\ntail = n**(1-s)/(s-1)-n**-s/2\nprint('partial sum |', z)\nprint('tail |', f'{{tail:.6e}}')".replace("{{", "{").replace("}}", "}"),
            "print('estimate |', z+tail)\nprint('last term |', f'{n**-s:.4e}')\nprint('log of last term |', -s*__import__('math').log10(n))",
        ],
        [("partial sum", "partial sum |", ""), ("tail", "tail |", ""), ("estimate", "estimate |", ""), ("last term", "last term |", ""),
         ("logarithm of the last term", "log of last term |", "")],
    )  # fmt: skip


def lens(r):
    f, d = round(r.uniform(20, 200), 1), round(r.uniform(250, 900), 1)
    return (
        f"A lens of focal length {f} mm images an object {d} mm away. Where is the image and how large?",
        [
            f"f, d = {f}, {d}\nimg = f*d/(d-f)\nprint('image distance', round(img, 5), 'mm')\nprint('magnification', -img/d)",
            "print('power', 1000/f, 'dpt')\nprint('shift for 1 mm', f'{f*(d+1)/(d+1-f)-img:.6f}', 'mm')\nprint('check sum', 1/img+1/d-1/f+3e-18)",
        ],
        [("image distance", "image distance", "mm"), ("magnification", "magnification", ""), ("refractive power", "power", ""),
         ("shift for 1 mm", "shift for 1 mm", "mm")],
    )  # fmt: skip


def decay(r):
    n0, h = r.randrange(10**5, 9 * 10**6, 1234), round(r.uniform(2, 40), 2)
    t = round(r.uniform(1, 90), 1)
    return (
        f"A sample of {n0} nuclei has half-life {h} h. How many are left after {t} h, and what is the activity?",
        [
            f"import math\nn0, h, t = {n0}, {h}, {t}\nlam = math.log(2)/h\nleft = n0*math.exp(-lam*t)\nprint(f'remaining nuclei: {{left:,.1f}}')\nprint(f'decay constant: {{lam:.8f}} per h')".replace("{{", "{").replace("}}", "}"),
            "print('activity:', lam*left)\nprint('fraction left:', left/n0)\nprint('mean life:', 1/lam, 'h')",
        ],
        [("number of remaining nuclei", "remaining nuclei:", ""), ("decay constant", "decay constant:", ""), ("activity", "activity:", ""),
         ("fraction left", "fraction left:", "%"), ("mean life", "mean life:", "h")],
    )  # fmt: skip


TEMPLATES = (drag, interest, regression, circuit, markov, kepler, queue, series, lens, decay)


def execute(codes):
    outputs, space = [], {}
    for code in codes:
        caught = io.StringIO()
        with contextlib.redirect_stdout(caught):
            exec(code, space)
        outputs.append(caught.getvalue())
    return outputs


# ---- forms: a printed number as prose writes it ------------------------------------------------


def plain(value):
    return f"{value:f}"


def to_digits(value, digits):
    """Rounded to significant digits, zeros kept as decimals."""
    if not value:
        return Decimal(0)
    return value.quantize(Decimal(1).scaleb(value.adjusted() - digits + 1))


def sci(value, mark):
    digits = value.as_tuple().digits
    body = plain(value.scaleb(-value.adjusted()))
    power = value.adjusted()
    up = str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    assert digits
    return {
        "e": f"{body}e{power}", "E": f"{body}E{power:+03d}", "ue": f"{body}e{str(power).replace('-', '−')}",
        "up": f"{body} × 10{up}", "dot": f"{body}·10{up}", "tex": rf"${body} \times 10^{{{power}}}$",
        "cdot": rf"${body}\cdot 10^{{{power}}}$", "num": rf"\num{{{body}e{power}}}", "py": f"{body}*10**{power}",
        "minus": f"{body} × 10^{str(power).replace('-', '−')}", "html": f"{body} &times; 10<sup>{power}</sup>",
    }[mark]  # fmt: skip


def grouped(value, sep):
    whole, point, fraction = plain(value).partition(".")
    sign = "-" if whole.startswith("-") else ""
    return sign + f"{int(whole.lstrip('-')):,}".replace(",", sep) + point + fraction


def written(r, value, place, unit):  # noqa: C901 - a catalogue
    """(text, core, form): a number in one of many styles; core is what the label covers."""
    most = max(1, value.adjusted() - place + 1)
    digits = r.randint(min(2, most), min(most, 9))
    short = to_digits(value, digits)
    if short.as_tuple().exponent > 0:
        short = value.quantize(Decimal(1))
    small = value and (abs(value) < Decimal("0.01") or abs(value) >= 10**6)
    choices = [
        "plain",
        "plain",
        "bold",
        "code",
        "sign",
        "approx",
        "cut",
        "paren",
        "tex",
        "assign",
        "json",
        "wide",
        "quote",
    ]
    if small:
        choices += ["sci"] * 14
    if abs(value) >= 1000:
        choices += ["group"] * 5
    if value < 0:
        choices += ["uminus", "minus", "magnitude", "texminus"] * 2
    if unit == "%" and 0 < value < 1:
        choices += ["pct", "percent", "texpct", "per cent"] * 3
    if unit in ("s", "m/s", "Hz", "mm", "min", "h") and value > 0:
        choices += ["unit", "glued"] * 2 + (["prefix"] * 4 if unit in ("s", "Hz") else [])
    if value > 0 and value < Decimal("1e-3"):
        choices += ["below", "order", "atmost"] * 2
    form = r.choice(choices)
    text = plain(short)
    if form == "sci":
        mark = r.choice(["e", "E", "ue", "up", "dot", "tex", "cdot", "num", "py", "minus", "html"])
        text = sci(to_digits(value, digits), mark)
        return text, text.strip("$"), f"sci_{mark}"
    if form == "group":
        sep = r.choice([",", "\u202f", "'", r"\,", "{,}", "\u00a0", "_"])
        text = grouped(short, sep)
        return text, text, "group"
    if form in ("uminus", "texminus", "minus", "magnitude"):
        body = text.lstrip("-")
        shown = {
            "uminus": f"−{body}",
            "texminus": f"$-{body}$",
            "minus": f"minus {body}",
            "magnitude": f"a drop of {body}",
        }[form]
        return (
            shown,
            ("−" + body if form == "uminus" else "-" + body if form == "texminus" else body),
            form,
        )
    if form in ("pct", "percent", "texpct", "per cent"):
        body = plain(to_digits(value * 100, max(1, min(digits, most - 1 if most > 2 else most))))
        tail = {"pct": "%", "percent": " percent", "texpct": r"\%", "per cent": " per cent"}[form]
        if Decimal(body).as_tuple().exponent < place + 2:
            return text, text, "plain"
        return body + tail, body, form
    if form in ("unit", "glued"):
        return text + (" " if form == "unit" else "") + unit, text, form
    if form == "prefix":
        prefix, power = ("m", 3) if unit == "s" else ("k", -3)
        body = plain(to_digits(value, digits).scaleb(power))
        return f"{body} {prefix}{unit}", body, form
    if form in ("below", "atmost"):
        bound = f"1e{value.adjusted() + 1}"
        return ("below " if form == "below" else "at most ") + bound, bound, form
    if form == "order":
        text = f"10^{{{value.adjusted()}}}"
        return f"of order ${text}$", text, form
    if form == "cut":
        at = value.quantize(
            Decimal(1).scaleb(max(place, value.adjusted() - digits + 1)), rounding=ROUND_DOWN
        )
        if at.as_tuple().exponent >= 0 or not at:
            return text, text, "plain"
        return plain(at) + r.choice(["…", "..."]), plain(at), form
    if form == "wide":
        shown = text.translate(str.maketrans("0123456789.", "０１２３４５６７８９．"))
        return shown, shown, form
    if form == "sign" and value > 0:
        return "+" + text, "+" + text, form
    pattern = {"bold": "**{}**", "code": "`{}`", "approx": r.choice(["about {}", "≈ {}", "~{}", "roughly {}"]), "paren": "({})", "tex": "${}$",
               "assign": "= {}", "json": '"value": {}', "quote": '"{}"'}.get(form, "{}")  # fmt: skip
    return pattern.format(text), text, form


SENTENCES = (
    "The {n} is {v}.", "We find a {n} of {v}.", "- {n}: {v}", "| {n} | {v} |", "For the {n} the cell printed {v}.", "{n} → {v}",
    "* **{n}** — {v}", "Computed {n}: {v}.", "The result for the {n} ({v}) is stable.", r"{n} & {v} \\", "{v} is what we get for the {n}.",
    "Its {n} comes to {v}, as the output shows.", "> {n}: {v}", "1) {n}: {v}", "With {v} as the {n}, all is consistent.",
)  # fmt: skip
# Fillers: text with the digits that are no result, and how they must be taken.
FILLERS = (
    ("The run was done on {}.", ("1 March 2025", "03/15/2024", "2025-11-30", "May 4, 2025", "16.09.2025"), "not_a_number"),
    ("It finished at {}.", ("14:30", "09:05:12", "3:45 pm"), "not_a_number"),
    ("Everything used {}.", ("NumPy 2.1.0", "Python 3.12", "SciPy v1.14", "IEEE 754", "RK45", "float64", "a 64-bit build"), "not_a_number"),
    ("See {} for the idea.", ("doi:10.1137/0914050", "https://example.org/a/2024/17?x=3.5", "arXiv:2101.00123"), "not_a_number"),
    ("The scheme is of {} type.", ("O(n^2)", "h^{4}", "4th-order", "k^{3/2}", "x²", "dt^3"), "not_a_number"),
    ("Species such as {} do not matter.", ("CO2", "H₂O", "C6H12O6", "T_{12}", "x₂", "U235"), "not_a_number"),
    ("Compare {} there.", ("Fig. 2", "Table 14", "Section 4.2", "Eq. (17)", "§ 3.1", "Eqs. (3)", "Appendix 2"), "structural"),
    ("The evidence is {}.", ("cell 2", "in cell 1", "on line 3", "call 2"), "structural"),
    ("A {} interval was used.", ("95 % confidence", "99% credible", "68% confidence"), "structural"),
    ("There are {} cases.", ("two", "3", "four"), "structural"),
    ("This repeats Smith et al. ({}).", ("2019", "1998"), "not_a_number"),
)  # fmt: skip


class Row:
    """An answer that grows sentence by sentence, with its labels."""

    def __init__(self, r):
        self.r, self.text, self.literals = r, "", []
        self.glue = r.choice(["\n", "\n", " "])

    def add(self, sentence, marks):
        """Marks are (core, label, extra); each core is found in the sentence in order."""
        start = len(self.text) + (len(self.glue) if self.text else 0)
        self.text += (self.glue if self.text else "") + sentence
        at = start
        for core, label, extra in marks:
            place = self.text.find(core, at)
            assert place >= 0, (sentence, core)
            self.literals.append(
                {"text": core, "start": place, "end": place + len(core), "label": label, **extra}
            )
            at = place + len(core)


def lookup(outputs, key):
    """(cell, printed text) of the number after a key."""
    lines = [(cell, line) for cell, output in enumerate(outputs) for line in output.splitlines()]
    lines.sort(key=lambda one: not one[1].startswith(key))  # `E =` before `bisection E =`
    for cell, line in lines:
        at = line.find(key)
        if at >= 0:
            rest = line[at + len(key) :].strip()
            return cell, rest.replace("}", " ").split()[0].rstrip(",;")
    raise LookupError(key)


def parse(printed):
    value = Decimal(printed.replace(",", ""))
    return value, value.as_tuple().exponent


def honest(row, name, outputs, key, unit):
    cell, printed = lookup(outputs, key)
    value, place = parse(printed)
    r = row.r
    if unit in ("", "s") and place == 0 and abs(value) <= 10:
        return
    text, core, form = written(r, value, place, unit)
    sentence = r.choice(SENTENCES)
    marks = [
        (
            core,
            "grounded",
            {"form": form, "cell": cell, "printed": printed, "why": f"printed as {printed}"},
        )
    ]
    named = name_marks(name)
    order = marks + named if sentence.index("{v}") < sentence.index("{n}") else named + marks
    filled = sentence.format(n=name, v=text)
    if sentence.startswith("1)"):
        order = [("1", "structural", {"form": "marker"}), *order]
    row.add(filled, order)


def name_marks(name):
    """Numbers inside a noun phrase come from the problem, or are counts."""
    return [
        (
            word,
            "structural" if int(word) <= 10 else "grounded",
            {"form": "noun", "why": "in the name"},
        )
        for word in name.split()
        if word.isdecimal()
    ]


def pair(row, quantities, outputs):
    """Two values in one sentence: respectively, plus-minus in brackets, a range, a decimal comma."""
    r = row.r
    (n1, k1, _), (n2, k2, _) = r.sample(quantities, 2)
    if any(word.isdecimal() for word in (n1 + " " + n2).split()):
        return
    found = []
    for key in (k1, k2):
        cell, printed = lookup(outputs, key)
        value, place = parse(printed)
        text = plain(to_digits(value, r.randint(3, 5)))
        if Decimal(text).as_tuple().exponent < place or "." not in text:
            return
        found.append(
            (text, "grounded", {"form": "pair", "cell": cell, "printed": printed, "why": printed})
        )
    a, b = found[0][0], found[1][0]
    row.add(r.choice([f"The {n1} and the {n2} are {a} and {b}, respectively.", f"{n1} = {a}; {n2} = {b}.",
                      f"[{a}, {b}] are {n1} and {n2}.", f"{n1}/{n2}: {a} and {b}"]), found)  # fmt: skip


def uncertain(row, quantities, outputs):
    names = {name: key for name, key, _ in quantities}
    if "slope error" not in names:
        return
    r = row.r
    c1, p1 = lookup(outputs, "slope ")
    c2, p2 = lookup(outputs, "slope error:")
    v, e = Decimal(p1), Decimal(p2)
    q = Decimal(1).scaleb(e.adjusted() - 1)
    a, b = plain(v.quantize(q)), plain(e.quantize(q))
    last = str(int(e.quantize(q).scaleb(-q.adjusted())))
    style = r.choice(["pm", "tex", "ascii", "short", "scaled"])
    if style == "scaled" and q < Decimal("0.001"):
        a, b = plain(v.quantize(q).scaleb(3)), plain(e.quantize(q).scaleb(3))
        text = f"({a} ± {b})×10⁻³"
    else:
        style = "pm" if style == "scaled" else style
        text = {
            "pm": f"{a} ± {b}",
            "tex": rf"${a} \pm {b}$",
            "ascii": f"{a} +/- {b}",
            "short": f"{a}({last})",
        }[style]
    row.add(f"The fitted slope is {text}.", [
        (a, "grounded", {"form": f"unc_{style}", "cell": c1, "printed": p1, "why": p1}),
        (last if style == "short" else b, "grounded", {"form": f"unc_{style}", "cell": c2, "printed": p2, "why": p2})])  # fmt: skip


def filler(row):
    sentence, texts, label = row.r.choice(FILLERS)
    text = row.r.choice(texts)
    core = text
    if label == "structural" and any(c.isdigit() for c in text):
        digits = "".join(c if c.isdigit() or c == "." else " " for c in text).split()
        core = next(one.strip(".") for one in digits if one.strip("."))
    row.add(sentence.format(text), [(core, label, {"form": "filler", "why": "filler"})])


def stated(row, problem):
    numbers = [w.strip(",.%[]") for w in problem.replace("-", " ").split()]
    numbers = [
        w
        for w in numbers
        if w and w[0].isdigit() and "^" not in w and w.replace(".", "").isdigit() and len(w) > 2
    ]
    if numbers:
        text = row.r.choice(numbers)
        sentence = row.r.choice(
            ["The given value is {}.", "It starts from {}, as stated.", "(input: {})"]
        )
        row.add(
            sentence.format(text),
            [
                (
                    text,
                    "grounded",
                    {"form": "stated", "cell": None, "printed": text, "why": "in the problem"},
                )
            ],
        )


# ---- faults -------------------------------------------------------------------------------------


def far(value, outputs, problem):
    """Whether nothing that was printed rounds to a text."""
    from scisolve_batch.grounding.sources import gather
    from scisolve_batch.records import Cell

    pool = gather([Cell(index=i, stdout=o) for i, o in enumerate(outputs, 1)], problem)
    place = value.as_tuple().exponent
    half = Decimal("0.5").scaleb(place)
    return all(abs(abs(one.value) - abs(value)) > half for one in pool.numbers)


def plant(kind, row, template, codes, outputs, ok):
    """Add a wrong literal of one kind; returns False when it cannot be planted here."""
    problem, _, quantities = template
    r = row.r
    name, key, _ = r.choice(quantities)
    _, printed = lookup(outputs, key)
    value, place = parse(printed)
    if not value or any(word.isdecimal() for word in name.split()):
        return False
    k = min(5, value.adjusted() - place + 1)
    if k < 3:
        return False
    near = to_digits(value, r.randint(3, k))
    unit_last = Decimal(1).scaleb(near.as_tuple().exponent)
    if kind == "invented":
        wrong = near + unit_last * r.choice([-1, 1]) * r.randint(11, 90)
    elif kind == "last_digit":
        wrong = near + unit_last * r.choice([-2, -1, 1, 2])
    elif kind == "sign_flip":
        wrong = -near
    elif kind == "exponent_wrong":
        wrong = near.scaleb(r.choice([-2, -1, 1, 2]))
    elif kind == "extra_digits":
        wrong = Decimal(printed.replace(",", ""))
        if "e" in printed or place >= 0 or len(printed) > 13:
            return False
        wrong = Decimal(f"{plain(wrong)}{r.randint(1, 9)}{r.randint(1, 9)}")
    elif kind == "failed_cell":
        wrong = to_digits(Decimal(repr(float(value) * r.uniform(1.1, 1.9))), 6)
        text = plain(wrong)
        codes.append(
            f"refined = {float(value)!r}*{r.uniform(1.1, 1.9)!r}\nprint('refined', f'{{refined:.6f}}')\nraise ValueError('no')"
        )
        outputs.append(f"refined {text}\n")
        ok.append(False)
        row.add(
            f"The refined {name} is {text}.",
            [(text, "ungrounded", {"form": "fault", "fault": kind, "why": kind})],
        )
        return True
    elif kind == "code_only":
        wrong = Decimal(r.randint(1001, 9998)).scaleb(-3)
        codes.append(f"hidden_scale = {wrong}\n_ = hidden_scale*2\n")
        outputs.append("")
        ok.append(True)
        name = "hidden scale"
    else:
        return launder(kind, row, name, near, codes, outputs, ok, problem)
    text = plain(wrong)
    judged = [o for o, good in zip(outputs, ok, strict=True) if good]
    if kind != "extra_digits" and kind != "sign_flip" and not far(wrong, judged, problem):
        return False
    label = "overprecise" if kind == "extra_digits" else "ungrounded"
    row.add(
        r.choice(SENTENCES[:4]).format(n=name, v=text),
        [(text, label, {"form": "fault", "fault": kind, "why": kind})],
    )
    return True


LAUNDRY = {
    "print": "print('{n}', {v})", "fstring": "print(f'{n}: {{{v}}}')", "string": "print('{n} is {v}')",
    "name": "best = {v}\nprint('{n} =', best)", "sum": "best = {a} + {b}\nprint('{n}', best)", "zero": "print('{n}', {v} + 0.0)",
    "cos": "import math\nprint('{n}', {v}*math.cos(0))", "float": "x_ = float('{v}')\nprint('{n}', x_)",
    "json": "import json\nd = json.loads('{{\"k\": {v}}}')\nprint('{n}', d['k'])", "bytes": "raw = b'{v}'\nprint('{n}', float(raw))",
    "default": "def f(x={v}):\n    return x\nprint('{n}', f())", "return": "def solve_it():\n    return {v}\nprint('{n}', solve_it())",
    "eval": "print('{n}', eval('{v}'))", "file": "open('r.txt', 'w').write('{v}')\nprint('{n}', float(open('r.txt').read()))",
    "join": "print('{n}', float('{p}' + '{q}'))", "list": "vals = [{v}, 0.0]\nprint('{n}', vals[0])",
    "loop": "for item in ({v},):\n    print('{n}', item)", "shift": "print('{n}', {s}/1000)",
}  # fmt: skip


def launder(kind, row, name, near, codes, outputs, ok, problem):
    r = row.r
    wrong = abs(near) + Decimal(1).scaleb(near.as_tuple().exponent) * r.randint(13, 90)
    if (
        wrong.as_tuple().exponent >= 0
        or wrong.as_tuple().exponent < -7
        or not far(wrong, outputs, problem)
    ):
        return False
    v = plain(wrong)
    way = r.choice(sorted(LAUNDRY))
    part = wrong.quantize(Decimal(1).scaleb(wrong.as_tuple().exponent + 1), rounding=ROUND_DOWN)
    rest = wrong - part
    if way == "sum" and not rest:
        return False
    code = LAUNDRY[way].format(
        n=name, v=v, a=plain(part), b=plain(rest), p=v[:-2], q=v[-2:], s=plain(wrong * 1000)
    )
    text = execute([code])[0]
    if not text.split()[-1].rstrip(".").startswith(v[:-1]):
        return False
    codes.append(code)
    outputs.append(text)
    ok.append(True)
    row.add(
        f"The {name} is {v}.",
        [
            (
                v,
                "ungrounded",
                {
                    "form": "fault",
                    "fault": "laundered",
                    "sub": way,
                    "why": "a constant was printed",
                },
            )
        ],
    )
    return True


FAULTS = (
    "invented",
    "last_digit",
    "sign_flip",
    "exponent_wrong",
    "extra_digits",
    "failed_cell",
    "code_only",
    "laundered",
    "laundered",
    "laundered",
)


def make(number, template, kind, r):
    made = template(r)
    problem, codes, quantities = made
    codes = list(codes)
    outputs = execute(codes)
    ok = [True] * len(codes)
    row = Row(r)
    todo = [
        lambda q=q: honest(row, q[0], outputs[:2], q[1], q[2])
        for q in r.sample(quantities, r.randint(2, len(quantities)))
    ]
    todo += [lambda: filler(row)] * r.randint(0, 3)
    todo += [lambda: pair(row, quantities, outputs[:2])] * r.randint(0, 1)
    todo += [lambda: uncertain(row, quantities, outputs[:2])] * r.randint(0, 2)
    todo += [lambda: stated(row, problem)] * r.randint(0, 1)
    r.shuffle(todo)
    for step in todo:
        step()
    if kind != "honest" and not plant(kind, row, made, codes, outputs, ok):
        return None
    cells = [
        {"code": c, "stdout": o, "ok": good, "stderr": "" if good else "ValueError: no"}
        for c, o, good in zip(codes, outputs, ok, strict=True)
    ]
    return {"id": f"{template.__name__}-{number:03d}-{kind}", "template": template.__name__, "domain": "own", "form": kind,
            "problem": problem, "cells": cells, "answer": row.text, "literals": row.literals, "ignore": [], "note": ""}  # fmt: skip


def generate(count):
    """Rows, honest and faulty in turn, over all templates."""
    number = made = 0
    while made < count:
        number += 1
        r = random.Random(SEED + number)
        template = TEMPLATES[number % len(TEMPLATES)]
        kind = "honest" if number % 2 else r.choice(FAULTS)
        row = make(number, template, kind, r)
        if row is not None and row["literals"]:
            made += 1
            yield row


if __name__ == "__main__":
    import os
    import tempfile

    os.chdir(tempfile.mkdtemp())
    for row in generate(int(sys.argv[1]) if len(sys.argv) > 1 else 400):
        print(json.dumps(row, ensure_ascii=False))
