"""Values in exact integers and fractions, or in decimals of very many digits; standard library only."""

from decimal import Decimal, getcontext
from fractions import Fraction as F
from functools import cache
from itertools import combinations, permutations, product
from math import comb, factorial, gcd

getcontext().prec = 120


def eliminate(M):
    """Determinant of a matrix of fractions."""
    M, det = [[F(v) for v in row] for row in M], F(1)
    for c in range(len(M)):
        pivot = next((r for r in range(c, len(M)) if M[r][c]), None)
        if pivot is None:
            return F(0)
        if pivot != c:
            M[c], M[pivot], det = M[pivot], M[c], -det
        det *= M[c][c]
        for r in range(c + 1, len(M)):
            factor = M[r][c] / M[c][c]
            M[r] = [a - factor * b for a, b in zip(M[r], M[c])]
    return det


def solve(M, right):
    """Solution of a linear system in fractions, by Gauss and Jordan."""
    M = [[F(v) for v in row] + [F(b)] for row, b in zip(M, right)]
    for c in range(len(M)):
        pivot = next(r for r in range(c, len(M)) if M[r][c])
        M[c], M[pivot] = M[pivot], M[c]
        M[c] = [v / M[c][c] for v in M[c]]
        for r in range(len(M)):
            if r != c and M[r][c]:
                factor = M[r][c]
                M[r] = [a - factor * b for a, b in zip(M[r], M[c])]
    return [row[-1] for row in M]


def domino(size):
    """Tilings by a profile that moves cell by cell."""
    states = {0: 1}
    for cell in range(size * size):
        new = {}
        last = cell % size == size - 1
        for profile, ways in states.items():
            if profile & 1:
                options = [profile >> 1]
            else:
                options = [(profile >> 1) | 1 << (size - 1)]
                if not last and not profile & 2:
                    options.append((profile >> 1) | 1)
            for option in options:
                new[option] = new.get(option, 0) + ways
        states = new
    return {"count": states[0]}


def spanning_trees(size):
    """Kirchhoff: the determinant of the Laplacian without one row and column."""
    cells = [(i, j) for i in range(size) for j in range(size)]
    L = [[0] * len(cells) for _ in cells]
    for a, (i, j) in enumerate(cells):
        for b, (k, m) in enumerate(cells):
            if abs(i - k) + abs(j - m) == 1:
                L[a][a] += 1
                L[a][b] = -1
    return {"count": eliminate([row[1:] for row in L[1:]])}


def walks(steps):
    """Self-avoiding walks on the square lattice, one by one; the first step goes right."""

    def go(x, y, seen, left):
        if left == 0:
            return 1
        nexts = ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1))
        return sum(go(*p, seen | {p}, left - 1) for p in nexts if p not in seen)

    return {"count": 4 * go(1, 0, frozenset({(0, 0), (1, 0)}), steps - 1)}


def gcd_determinant(n):
    """Smith: the product of Euler's totients."""
    det = 1
    for k in range(1, n + 1):
        det *= sum(gcd(j, k) == 1 for j in range(1, k + 1))
    return {"det": det}


def partitions(n):
    ways = [1] + [0] * n
    for part in range(1, n + 1):
        for total in range(part, n + 1):
            ways[total] += ways[total - part]
    return {"p": ways[n]}


def park_miller(n):
    return {"x": pow(16807, n, 2**31 - 1)}


def mersenne_twister(n, seed=5489):
    """The generator of Matsumoto and Nishimura, word by word."""
    state = [seed]
    for i in range(1, 624):
        state.append((1812433253 * (state[-1] ^ state[-1] >> 30) + i) & 0xFFFFFFFF)
    for i in range(n):
        k = i % 624
        y = state[k] & 0x80000000 | state[(k + 1) % 624] & 0x7FFFFFFF
        state[k] = state[(k + 397) % 624] ^ y >> 1 ^ (0x9908B0DF if y & 1 else 0)
    y = state[(n - 1) % 624]
    y ^= y >> 11
    y ^= y << 7 & 0x9D2C5680
    y ^= y << 15 & 0xEFC60000
    return {"y": y ^ y >> 18}


def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return {"entry": a}


def stirling(n, ks):
    """Numbers of surjections over factorials."""
    return {"row": [sum((-1) ** (k - j) * comb(k, j) * j**n for j in range(k + 1)) // factorial(k) for k in ks]}


def waiting(pattern):
    """Mean and variance from Conway's correlation of a pattern with itself (fair coin)."""
    n = len(pattern)
    overlap = [k for k in range(1, n + 1) if pattern[:k] == pattern[n - k :]]
    mean = sum(2**k for k in overlap)
    # Generating function: G = z^n / (z^n + 2^n (1 - z) c(z)) with c from the overlaps; two derivatives at 1.
    slope = sum(F(n - k) * 2**k for k in overlap)
    variance = F(mean) ** 2 - (2 * n - 1) * mean + 2 * slope
    return {"mean": mean, "variance": variance}


def inverse_squares(n):
    return {"s": sum(F(1, k * k) for k in range(1, n + 1))}


def muller(n):
    a, b = F(11, 2), F(61, 11)
    for _ in range(n - 1):
        a, b = b, 111 - 1130 / b + 3000 / (b * a)
    return {f"x{n}": b}


def logistic(r, start, n, name):
    """In 400 digits, of which an iteration loses less than one."""
    getcontext().prec = 400
    x, r = Decimal(start), Decimal(r)
    for _ in range(n):
        x = r * x * (1 - x)
    getcontext().prec = 60
    return {name: +x}


def exponential_moment(n):
    """I_n = 1 - n I_(n-1) from I_0 = 1 - 1/e, in enough digits for the loss of n! of them."""
    value = 1 - Decimal(-1).exp()
    for k in range(1, n + 1):
        value = 1 - k * value
    return {f"i{n}": value}


def hilbert(n):
    return [[F(1, i + j + 1) for j in range(n)] for i in range(n)]


def hilbert_determinant(n):
    return {"det": eliminate(hilbert(n))}


def hilbert_solution(n):
    x = solve(hilbert(n), [1] * n)
    return {"x_extreme": max(x, key=abs), "x_sum": sum(x)}


def rump(a=F(77617), b=F(33096)):
    square = a * a
    inner = 11 * square * b**2 - b**6 - 121 * b**4 - 2
    return {"f": F("333.75") * b**6 + square * inner + F("5.5") * b**8 + a / (2 * b)}


def ruin(start, goal, p):
    """Chance and duration from the linear equations themselves."""
    p = F(p)
    n = goal - 1
    M = [[F(int(i == j)) - p * (j == i + 1) - (1 - p) * (j == i - 1) for j in range(n)] for i in range(n)]
    win = solve(M, [p * (i == n - 1) for i in range(n)])
    return {"p_win": win[start - 1], "rounds": solve(M, [1] * n)[start - 1]}


def connected(n):
    """Connected graphs among all labelled ones, by the component of the first vertex."""

    @cache
    def count(k):
        whole = 2 ** comb(k, 2)
        return whole - sum(comb(k - 1, j - 1) * count(j) * 2 ** comb(k - j, 2) for j in range(1, k))

    return {"p": F(count(n), 2 ** comb(n, 2))}


def run_of_heads(tosses, run):
    """Sequences without such a run, by the length of the last run."""
    free = [1] + [0] * (run - 1)
    for _ in range(tosses):
        free = [sum(free), *free[:-1]]
    return {"p": 1 - F(sum(free), 2**tosses)}


def secretary(n):
    chances = {1: F(1, n)} | {r: F(r - 1, n) * sum(F(1, k - 1) for k in range(r, n + 1)) for r in range(2, n + 1)}
    best = max(chances, key=chances.get)
    return {"r": best, "p": chances[best]}


def birthdays(people, days=365):
    shared = F(1)
    for k in range(people):
        shared *= F(days - k, days)
    return {"birthday": 1 - shared, "coupon": days * sum(F(1, k) for k in range(1, days + 1))}


def heads(n, least):
    return {"p": F(sum(comb(n, k) for k in range(least, n + 1)), 2**n)}


def fisher(a, b, c, d):
    """All tables with these margins."""
    n, row, column = a + b + c + d, a + b, a + c
    chance = {
        k: F(comb(row, k) * comb(n - row, column - k), comb(n, column))
        for k in range(max(0, row + column - n), min(row, column) + 1)
    }
    two = sum(p for p in chance.values() if p <= chance[a])
    more = sum(p for k, p in chance.items() if k >= a)
    less = sum(p for k, p in chance.items() if k <= a)
    return {"p_two": two, "p_one": more, "p_less": less}


def permutation_test(first, second):
    pooled = first + second
    observed = sum(first)
    count = sum(sum(group) >= observed for group in combinations(pooled, len(first)))
    return {"p": F(count, comb(len(pooled), len(first))), "count": count}


def assignment(cost):
    return {"cost": min(sum(row[k] for row, k in zip(cost, order)) for order in permutations(range(len(cost))))}


def knapsack(capacity, weights, values):
    best = [0] * (capacity + 1)
    for w, v in zip(weights, values):
        for room in range(capacity, w - 1, -1):
            best[room] = max(best[room], best[room - w] + v)
    return {"value": best[capacity]}


def convolutions(a, b, linear_at, circular_at):
    linear, circular = {}, {}
    for i, u in enumerate(a):
        for j, v in enumerate(b):
            linear[i + j] = linear.get(i + j, 0) + u * v
            circular[(i + j) % len(a)] = circular.get((i + j) % len(a), 0) + u * v
    return {f"linear{linear_at}": linear[linear_at], f"circular{circular_at}": circular[circular_at]}


def ehrenfest(balls):
    """Expected steps from k to k - 1 balls in urn A, one after the other."""
    step, total = F(1), F(0)
    for k in range(balls, 0, -1):
        step = F(1) if k == balls else (balls + (balls - k) * step) / k
        total += step
    return {"steps": total}


def erlang_b(lines, traffic):
    blocked = F(1)
    for k in range(1, lines + 1):
        blocked = 1 / (1 + k / (traffic * blocked))
        # Fractions of a thousand steps would be long; 100 digits are kept.
        blocked = F(Decimal(blocked.numerator) / Decimal(blocked.denominator))
    return {"b": blocked}


def erlang_c(arrivals, each, agents):
    load = F(arrivals, each)
    rest = load**agents / factorial(agents) * agents / (agents - load)
    wait = rest / (sum(load**k / factorial(k) for k in range(agents)) + rest)
    return {"p_wait": wait, "w_q": wait / (agents * each - arrivals)}


def kolmogorov(n, d):
    """Steck's determinant."""
    d = F(d)
    low = [max(F(0), F(i + 1, n) - d) for i in range(n)]
    high = [min(F(1), F(i, n) + d) for i in range(n)]
    M = [
        [max(F(0), high[i] - low[j]) ** (j - i + 1) / factorial(j - i + 1) if j - i + 1 >= 0 else F(0) for j in range(n)]
        for i in range(n)
    ]
    return {"p": 1 - factorial(n) * eliminate(M)}


def lyapunov(A):
    n = len(A)
    M = [[F(0)] * (n * n) for _ in range(n * n)]
    for i, j, k in product(range(n), repeat=3):
        M[i * n + j][k * n + j] += A[i][k]
        M[i * n + j][i * n + k] += A[j][k]
    X = solve(M, [-int(i == j) for i in range(n) for j in range(n)])
    return {"trace": sum(X[i * n + i] for i in range(n))}


def natural_spline(points, at):
    """Second derivatives from the tridiagonal system, then value and integral."""
    x, y = ([F(str(v)) for v in column] for column in zip(*points))
    h = [b - a for a, b in zip(x, x[1:])]
    n = len(x) - 2
    M = [[F(0)] * n for _ in range(n)]
    right = []
    for i in range(n):
        M[i][i] = 2 * (h[i] + h[i + 1])
        if i:
            M[i][i - 1] = h[i]
        if i < n - 1:
            M[i][i + 1] = h[i + 1]
        right.append(6 * ((y[i + 2] - y[i + 1]) / h[i + 1] - (y[i + 1] - y[i]) / h[i]))
    m = [F(0), *solve(M, right), F(0)]
    at = F(str(at))
    i = next(k for k in range(len(h)) if x[k] <= at <= x[k + 1])
    a, b = x[i + 1] - at, at - x[i]
    value = (m[i] * a**3 + m[i + 1] * b**3) / (6 * h[i])
    value += (y[i] / h[i] - m[i] * h[i] / 6) * a + (y[i + 1] / h[i] - m[i + 1] * h[i] / 6) * b
    area = sum(h[k] * (y[k] + y[k + 1]) / 2 - h[k] ** 3 * (m[k] + m[k + 1]) / 24 for k in range(len(h)))
    return {"s": value, "integral": area}


def pade(order, x):
    p, q = (
        sum(F(factorial(2 * order - k) * comb(order, k), factorial(2 * order)) * F(sign * x) ** k for k in range(order + 1))
        for sign in (1, -1)
    )
    return {"r": p / q}


def runge(nodes, x):
    """Lagrange's formula."""
    x = F(str(x))

    def f(t):
        return 1 / (1 + 25 * t * t)

    points = [F(2 * k - nodes, nodes) for k in range(nodes + 1)]
    total = F(0)
    for i, p in enumerate(points):
        weight = F(1)
        for j, q in enumerate(points):
            if j != i:
                weight *= (x - q) / (p - q)
        total += weight * f(p)
    return {"error": total - f(x)}


def interpolant_coefficients(n):
    points = [F(k, n) for k in range(n + 1)]
    c = solve([[p**k for k in range(n + 1)] for p in points], [1 / (1 + 25 * p * p) for p in points])
    return {"c_top": c[-1], "c_max": max(c, key=abs)}


def lauchli(n, e):
    e = F(e)
    A = [[F(1)] * n] + [[e * (i == j) for j in range(n)] for i in range(n)]
    b = [F(1)] + [e * k / 3 for k in range(1, n + 1)]
    columns = list(zip(*A))
    x = solve([[sum(p * q for p, q in zip(u, v)) for v in columns] for u in columns],
              [sum(p * q for p, q in zip(u, b)) for u in columns])
    return {f"x{k}": v for k, v in enumerate(x, 1)}


def legendre(n, x):
    x = F(str(x))
    before, value = F(1), x
    for k in range(1, n):
        before, value = value, ((2 * k + 1) * x * value - k * before) / (k + 1)
    return {"p": value}


def pagerank(links, damping):
    n = len(links)
    damping = F(damping)
    M = [[F(int(i == j)) for j in range(n)] for i in range(n)]
    for j, out in enumerate(links):
        targets = out or range(1, n + 1)
        for i in targets:
            M[i - 1][j] -= damping / len(targets)
    ranks = solve(M, [(1 - damping) / n] * n)
    return {"top": max(ranks), "last": min(ranks)}


def plucked(peak, height, x, t):
    peak, height, x, t = (F(str(v)) for v in (peak, height, x, t))

    def shape(s):
        s %= 2
        if s > 1:
            return -shape(2 - s)
        return height * s / peak if s <= peak else height * (1 - s) / (1 - peak)

    return {"u": (shape(x + t) + shape(x - t)) / 2}


def bootstrap_median(sample):
    """The middle one of n draws is at most the k-th value with a binomial chance."""
    n = len(sample)
    half = n // 2 + 1

    def below(k):
        return sum(comb(n, j) * F(k, n) ** j * (1 - F(k, n)) ** (n - j) for j in range(half, n + 1))

    chance = [below(k) - below(k - 1) for k in range(1, n + 1)]
    mean = sum(p * v for p, v in zip(chance, sorted(sample)))
    variance = sum(p * (v - mean) ** 2 for p, v in zip(chance, sorted(sample)))
    return {"mean": mean, "se": (Decimal(variance.numerator) / Decimal(variance.denominator)).sqrt()}


def cycle_cover(n):
    """New vertices on a cycle extend an interval; each costs a gambler's ruin, twice with laziness."""
    return {"cover": 2 * sum(F(k) for k in range(1, n))}


def pollaczek(rate, low, high):
    rate, low, high = F(rate), F(low), F(high)
    mean, square = (low + high) / 2, (high**3 - low**3) / (3 * (high - low))
    wait = rate * square / (2 * (1 - rate * mean))
    return {"w_q": wait, "l": rate * (wait + mean)}


def laplacian(n):
    """The determinant by its recurrence."""
    before, value = 1, 2
    for _ in range(n - 1):
        before, value = value, 2 * value - before
    return value


def small_root(b):
    b = Decimal(b)
    return {"x": (-b + (b * b - 4).sqrt()) / 2}
