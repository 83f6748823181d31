"""Card 4: the softmax Jacobian J = diag(p) − p pᵀ of one row of weights.

Source: card 4. p [T] are weights (non-negative, summing to one), s [T] scores, y and u [T] any vectors; J is [T, T]
with J_ij = ∂p_i/∂s_j. Plain numbers throughout, no units.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from grading.kinds.expression import Expression
from grading.kinds.indexed import Indexed
from grading.kinds.integer import Integer
from grading.kinds.matrix import Matrix
from grading.kinds.matrix_expression import MatrixExpression
from grading.kinds.number import Number
from grading.kinds.vector import Vector
from grading.tolerance import EQUIVALENT, EXACT, rel, within
from solvers.algebra import dot, softmax
from solvers.domains import Ints, Made, OneOf, Shares, Values
from solvers.draws import Draws
from solvers.drill import Card, Drill, Slip
from solvers.statements import Statement, minus, plus, statement_drill

Row = Sequence[float]


def jacobian(p: Row) -> list[list[float]]:
    """diag(p) − p pᵀ, [T] → [T, T]: p_i (1 − p_i) on the diagonal, −p_i p_j beside it."""
    return [[a * ((i == j) - b) for j, b in enumerate(p)] for i, a in enumerate(p)]


def jacobian_of_scores(s: Row, tau: float = 1.0) -> list[list[float]]:
    """∂p_i/∂s_j for p = softmax(s/τ): the Jacobian of the weights divided by the temperature τ."""
    return [[entry / tau for entry in row] for row in jacobian(softmax(s, tau))]


def jacobian_times(p: Row, y: Row) -> list[float]:
    """J y in O(T): p ∘ (y − (pᵀy) 1), without the matrix. J is symmetric, so this is yᵀJ as well."""
    mean = dot(p, y)
    return [a * (b - mean) for a, b in zip(p, y, strict=True)]


def quadratic_form(p: Row, u: Row) -> float:
    """uᵀJu, which is the variance of u's entries when entry i is drawn with probability p_i."""
    mean: float = dot(p, u)
    return math.fsum(a * (b - mean) ** 2 for a, b in zip(p, u, strict=True))


def gershgorin_discs(p: Row) -> list[float]:
    """Right ends of the Gershgorin intervals: row i reaches p_i (1 − p_i) twice, once as centre, once as radius."""
    return [2 * a * (1 - a) for a in p]


def gershgorin_bound(p: Row) -> float:
    """No eigenvalue of J exceeds 2 max_i p_i (1 − p_i), itself at most 1/2."""
    return max(gershgorin_discs(p))


def trace(p: Row) -> float:
    """Sum of the eigenvalues: Σ_i p_i (1 − p_i)."""
    return math.fsum(a * (1 - a) for a in p)


def two_key_eigenvalue(p: float) -> float:
    """The eigenvalue of J for weights (p, 1 − p) that is not zero: 2 p (1 − p)."""
    return 2 * p * (1 - p)


def three_key_eigenvalues(p: Row) -> tuple[float, float]:
    """The two eigenvalues for three keys that need not vanish, the larger one first.

    One eigenvalue is zero; the others solve x² − t x + 3 p_1 p_2 p_3 = 0 with t the trace.
    """
    t = trace(p)
    root = math.sqrt(max(0.0, t * t - 12 * p[0] * p[1] * p[2]))
    return (t + root) / 2, (t - root) / 2


def eigenvalues(p: Row) -> list[float]:
    """All T eigenvalues in ascending order, from the secular equation instead of the matrix.

    J is diagonal minus rank one, so its eigenvalues interlace the sorted weights: 0 is one, a weight that occurs m
    times is one m − 1 times, and between neighbouring different weights lies one root of 1 = Σ_i p_i²/(p_i − x).
    """
    ordered = sorted(a for a in p if a > 0)
    found = [0.0] * (len(p) - len(ordered) + 1)
    for low, high in pairwise(ordered):
        found.append(low if low == high else _secular_root(ordered, low, high))
    return sorted(found)


def _secular_root(p: Row, low: float, high: float) -> float:
    """The x in (low, high) with Σ_i p_i²/(p_i − x) = 1; the sum rises from −∞ to ∞ between two poles."""
    for _ in range(200):
        x = (low + high) / 2
        if x in (low, high):
            break
        gaps = [a - x for a in p]
        if 0.0 in gaps:
            break
        if math.fsum(a * a / gap for a, gap in zip(p, gaps, strict=True)) < 1:
            low = x
        else:
            high = x
    return (low + high) / 2


def spectral_norm(p: Row) -> float:
    """‖J‖₂, the largest eigenvalue: at most 1/2, reached by two equal weights."""
    return eigenvalues(p)[-1]


def frobenius_norm(p: Row) -> float:
    """‖J‖_F = √(Σp² − 2 Σp³ + (Σp²)²), the root of the sum of all squared entries."""
    squares = math.fsum(a * a for a in p)
    return math.sqrt(max(0.0, squares - 2 * math.fsum(a**3 for a in p) + squares * squares))


def rank(p: Row) -> int:
    """Rank of J: the number of positive weights minus one, since among them only the constant direction dies."""
    return sum(a > 0 for a in p) - 1


ROW = Shares((2, 3, 3, 3, 4, 4, 4, 4), 10)
"""Two to four positive multiples of 0.1; longer rows weigh more because there are more of them."""


def _direction(draws: Draws, so_far: Values) -> list[int]:
    return [draws.integer(-3, 5) for _ in so_far["p"]]


DIRECTION = Made(_direction, like="vector")
"""One integer in −3..5 for each key of p."""


ENTRY = Drill(
    id="jacobian.entry",
    asks="the derivative of one weight by one score",
    stars=2,
    moves=("O",),
    params={},
    solve=lambda: "p_i (delta_ij - p_j)",
    answer=Indexed(arrays={"p": "simplex"}, tolerance=EQUIVALENT),
    steps=lambda answer: {"entry": answer},
    slips=(
        Slip(
            "diagonal_only",
            lambda: "delta_ij p_i (1 - p_i)",
            "Softmax is treated entry by entry like a sigmoid; every score moves every weight, so i ≠ j counts too.",
        ),
        Slip(
            "log_derivative",
            lambda: "delta_ij - p_j",
            "That is the derivative of the logarithm of the weight; multiply by the weight itself.",
        ),
        Slip(
            "sign",
            lambda: "-p_i (delta_ij - p_j)",
            "The sign is exchanged; raising a key's own score raises its weight, so the one-hot part is positive.",
        ),
        Slip(
            "delta_plus",
            lambda: "p_i (delta_ij + p_j)",
            "The other key's weight is added; it is subtracted, since raising another score takes weight away.",
        ),
    ),
)

MATRIX = Drill(
    id="jacobian.matrix",
    asks="the whole Jacobian of a short row",
    stars=2,
    moves=("O",),
    params={"p": ROW},
    solve=jacobian,
    answer=Matrix(tolerance=within(0.0005)),
    steps=lambda p, answer: {
        "diagonal": [a * (1 - a) for a in p],
        "first_pair": p[0] * p[1],
        "J": answer,
    },
    slips=(
        Slip(
            "diagonal_only",
            lambda p: [[a * (1 - a) * (i == j) for j in range(len(p))] for i, a in enumerate(p)],
            "Only the diagonal is kept, as for a sigmoid; the entries beside it make every row sum to zero.",
        ),
        Slip(
            "sign",
            lambda answer: [[-x for x in row] for row in answer],
            "Every sign is exchanged; a key's own score raises its weight, so the diagonal is positive.",
        ),
        Slip(
            "outer_added",
            lambda p: [[a * ((i == j) + b) for j, b in enumerate(p)] for i, a in enumerate(p)],
            "The outer product is added; it is subtracted from the diagonal matrix, or the rows would not sum to zero.",
        ),
        Slip(
            "diag_not_reduced",
            lambda p: [[a if i == j else -a * b for j, b in enumerate(p)] for i, a in enumerate(p)],
            "The diagonal is left at the weights; the outer product takes the square of each weight away there.",
        ),
    ),
)

QUADRATIC_FORM = Drill(
    id="jacobian.quadratic_form",
    asks="the quadratic form of the Jacobian along a direction",
    stars=2,
    moves=("O",),
    params={"p": ROW, "u": DIRECTION},
    require=lambda p, u: len(set(u)) > 1 and abs(dot(p, u)) > 0.25,
    solve=quadratic_form,
    answer=Number(tolerance=rel(0.01)),
    steps=lambda p, u, answer: {
        "squares": [b * b for b in u],
        "mean": dot(p, u),
        "second": dot(p, [b * b for b in u]),
        "mean_squared": dot(p, u) ** 2,
        "variance": answer,
    },
    slips=(
        Slip(
            "second_moment",
            lambda p, u: dot(p, [b * b for b in u]),
            "The squared mean is not subtracted; the outer-product part of J takes it away.",
        ),
        Slip(
            "diagonal_only",
            lambda p, u: math.fsum(a * (1 - a) * b * b for a, b in zip(p, u, strict=True)),
            "Only the diagonal of J is used; the pairs of different keys belong to the form as well.",
        ),
        Slip(
            "unweighted",
            lambda u: math.fsum(b * b for b in u) / len(u) - (math.fsum(u) / len(u)) ** 2,
            "The plain variance of the entries is given; here entry i counts with the weight of its key.",
        ),
        Slip(
            "mean_squared",
            lambda p, u: dot(p, u) ** 2,
            "The squared mean is given; it is what the weighted mean of squares must be reduced by.",
        ),
    ),
)

GERSHGORIN = Drill(
    id="jacobian.gershgorin",
    asks="Gershgorin's bound on the largest eigenvalue",
    stars=2,
    moves=("O",),
    params={"p": Shares((3, 4, 4, 5, 5, 5), 20)},
    solve=gershgorin_bound,
    answer=Number(tolerance=within(0.0005)),
    steps=lambda p, answer: {
        "diagonal": [a * (1 - a) for a in p],
        "widest": max(a * (1 - a) for a in p),
        "bound": answer,
    },
    slips=(
        Slip(
            "two_lost",
            lambda answer: answer / 2,
            "Only the centre of the disc is given; the row's other entries add a radius of the same size.",
        ),
        Slip(
            "universal_half",
            lambda: 0.5,
            "One half holds for every row; the bound asked for uses the weights of this one.",
        ),
        Slip(
            "trace",
            trace,
            "The diagonal is added up; a disc takes one diagonal entry and the other entries of the same row.",
        ),
        Slip(
            "wrong_row",
            lambda p: 2 * min(a * (1 - a) for a in p),
            "The narrowest disc is taken; only the one that reaches farthest bounds every eigenvalue.",
        ),
    ),
)

TWO_KEY = Drill(
    id="jacobian.two_key_eigenvalue",
    asks="the non-zero eigenvalue for two keys",
    stars=2,
    moves=("O",),
    params={"p": OneOf(0.55, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99)},
    solve=two_key_eigenvalue,
    answer=Number(tolerance=rel(0.01)),
    steps=lambda p, answer: {"other": 1 - p, "entry": p * (1 - p), "eigenvalue": answer},
    slips=(
        Slip(
            "sigmoid_slope",
            lambda p: p * (1 - p),
            "One diagonal entry, the sigmoid's slope, is given; the eigenvalue is the trace, both diagonal entries.",
        ),
        Slip(
            "bound_instead",
            lambda: 0.5,
            "The bound over all rows is quoted; it is reached by two equal weights only.",
        ),
        Slip(
            "squares",
            lambda p: p**2 - (1 - p) ** 2,
            "A difference of squares is formed; the trace adds the two equal diagonal entries.",
        ),
        Slip(
            "four",
            lambda p: 4 * p * (1 - p),
            "The trace is doubled once more; it holds just two diagonal entries and is itself the eigenvalue.",
        ),
    ),
    notes="p = 0.55 is never served: its eigenvalue lies within twice the tolerance of the universal bound.",
)

TOP_EIGENVALUE = Drill(
    id="jacobian.top_eigenvalue",
    asks="the largest eigenvalue for three keys",
    stars=2,
    moves=("O",),
    params={"p": Shares(3, 20, least=2)},
    solve=lambda p: three_key_eigenvalues(p)[0],
    answer=Number(tolerance=within(0.005)),
    steps=lambda p, answer: {
        "diagonal": [a * (1 - a) for a in p],
        "trace": trace(p),
        "product": p[0] * p[1] * p[2],
        "minors": 3 * p[0] * p[1] * p[2],
        "under": trace(p) ** 2 - 12 * p[0] * p[1] * p[2],
        "root": math.sqrt(max(0.0, trace(p) ** 2 - 12 * p[0] * p[1] * p[2])),
        "top": answer,
    },
    slips=(
        Slip(
            "gershgorin_bound",
            gershgorin_bound,
            "Gershgorin's bound is given; it lies above the eigenvalue, which the quadratic gives exactly.",
        ),
        Slip(
            "largest_diagonal",
            lambda p: max(a * (1 - a) for a in p),
            "The largest diagonal entry is given; the entries beside the diagonal push the top eigenvalue above it.",
        ),
        Slip(
            "trace",
            trace,
            "The sum of all eigenvalues is given; two of them are not zero and have to be told apart.",
        ),
        Slip(
            "middle_eigenvalue",
            lambda p: three_key_eigenvalues(p)[1],
            "The smaller root is taken; the largest eigenvalue needs the plus sign before the square root.",
        ),
    ),
)

VECTOR_PRODUCT = Drill(
    id="jacobian.vector_product",
    asks="the Jacobian times a vector in linear time",
    stars=2,
    moves=("O",),
    params={"p": ROW, "u": DIRECTION},
    require=lambda u: len(set(u)) > 1,
    solve=lambda p, u: jacobian_times(p, u),
    answer=Vector(tolerance=within(0.0005)),
    steps=lambda p, u, answer: {
        "mean": dot(p, u),
        "centred": [b - dot(p, u) for b in u],
        "product": answer,
    },
    slips=(
        Slip(
            "mean_not_subtracted",
            lambda p, u: [a * b for a, b in zip(p, u, strict=True)],
            "The weighted mean is not subtracted; the outer-product part of J takes it from every entry first.",
        ),
        Slip(
            "diagonal_only",
            lambda p, u: [a * (1 - a) * b for a, b in zip(p, u, strict=True)],
            "Only the diagonal of J is used; each entry of the product also feels the other keys.",
        ),
        Slip(
            "weight_forgotten",
            lambda p, u: [b - dot(p, u) for b in u],
            "The differences from the mean are given; each has to be multiplied by its own weight.",
        ),
        Slip(
            "unweighted_mean",
            lambda p, u: [a * (b - math.fsum(u) / len(u)) for a, b in zip(p, u, strict=True)],
            "The plain mean is subtracted; the mean to take away is weighted by the row itself.",
        ),
    ),
)


def _masked_row(draws: Draws, so_far: Values) -> list[float]:
    """T weights in multiples of 0.05, some of them zero: 3 to T − 1 stay positive."""
    T = so_far["T"]
    alive = max(draws.integer(3, T - 1), draws.integer(3, T - 1))  # else rank 2 would be half of all answers
    weights = Shares(alive, 20).draw(draws, so_far)
    places = sorted(draws.sample(range(T), alive))
    row = [0.0] * T
    for place, weight in zip(places, weights, strict=True):
        row[place] = weight
    return row


RANK = Drill(
    id="jacobian.rank",
    asks="the rank of the Jacobian of a masked row",
    stars=2,
    moves=("O",),
    params={"T": Ints(4, 8), "p": Made(_masked_row, like="vector")},
    solve=lambda p: rank(p),
    answer=Integer(tolerance=EXACT),
    steps=lambda T, p, answer: {"zeros": T - sum(a > 0 for a in p), "positive": sum(a > 0 for a in p), "rank": answer},
    slips=(
        Slip(
            "T_minus_one",
            lambda T: T - 1,
            "The zero weights are ignored; each of them is a zero row and column and lowers the rank by one.",
        ),
        Slip(
            "positive_count",
            lambda p: sum(a > 0 for a in p),
            "The constant direction is forgotten; raising all visible scores alike moves no weight, so one rank goes.",
        ),
        Slip(
            "full",
            lambda T: T,
            "The Jacobian is taken for invertible; its rows sum to zero, and masked keys have zero rows.",
        ),
    ),
    notes="at least 3 positive weights (catalogue: 2), so that the rank is never 1, a guess that needs no thought.",
)

STATEMENTS = statement_drill(
    id="jacobian.statements",
    asks="which statements hold for the softmax Jacobian",
    stars=2,
    moves=("O",),
    statements=(
        Statement(
            "bound_quarter",
            r"No row of weights gives $J$ an eigenvalue above $1/4$.",
            False,
            r"Two equal weights give the eigenvalue $1/2$; $1/4$ is the largest slope of a sigmoid.",
        ),
        Statement(
            "rows_sum_to_zero",
            r"Every row of $J$ sums to 0.",
            True,
            r"Raising all scores by the same amount moves no weight.",
        ),
        Statement(
            "diagonal_only",
            r"All entries of $J$ off its diagonal are 0.",
            False,
            r"They are $-p_i p_j$: raising one score takes weight from every other key.",
        ),
        Statement("symmetric", r"$J$ equals its transpose.", True, r"Entry $(i, j)$ off the diagonal is $-p_i p_j$."),
        Statement(
            "psd",
            r"$\mathbf u^\top J \mathbf u \ge 0$ for every vector $\mathbf u$.",
            True,
            r"It is the variance of the entries of $\mathbf u$ under the weights.",
        ),
        Statement(
            "full_rank",
            r"$J$ is invertible.",
            False,
            r"$J \mathbf 1 = \mathbf 0$, so the rank is $T - 1$ at most.",
        ),
        Statement(
            "bound_half",
            r"No row of weights gives $J$ an eigenvalue above $1/2$.",
            True,
            r"Gershgorin: at most $2 \max_i p_i (1 - p_i)$, and $p (1 - p)$ never exceeds $1/4$.",
        ),
        Statement(
            "vanishes_one_hot",
            r"All entries of $J$ tend to 0 as the row tends to one-hot.",
            True,
            r"Every $p_i (1 - p_i)$ tends to 0, and it bounds the other entries of its row.",
        ),
        Statement(
            "vanishes_uniform",
            r"$J = 0$ where all $T \ge 2$ weights are equal.",
            False,
            r"Its diagonal is then $(1/T)(1 - 1/T)$, which is positive.",
        ),
        Statement(
            "jvp_linear_time",
            r"$J \mathbf y$ can be computed in $O(T)$ operations.",
            True,
            r"$\mathbf p \odot (\mathbf y - (\mathbf p^\top \mathbf y) \mathbf 1)$ needs one sum and $T$ products.",
        ),
        Statement(
            "null_ones",
            r"$J$ maps the all-ones vector to the zero vector.",
            True,
            r"That is the sum of each row, which is 0.",
        ),
        Statement(
            "negative_eigenvalue",
            r"$J$ has a negative eigenvalue for some row of weights.",
            False,
            r"The quadratic form is a variance, so no eigenvalue is below 0.",
        ),
    ),
    always=("bound_quarter", "rows_sum_to_zero", "diagonal_only"),
    count=3,
    slips=(
        Slip(
            "sigmoid_bound",
            lambda answer, options: plus(answer, options, "bound_quarter"),
            "One quarter bounds the slope of a sigmoid; the top eigenvalue of a softmax row can reach one half.",
        ),
        Slip(
            "elementwise",
            lambda answer, options: plus(minus(answer, "rows_sum_to_zero"), options, "diagonal_only"),
            "Softmax is treated entry by entry; the entries off the diagonal exist and make each row sum to zero.",
        ),
    ),
)


def _concentrated(draws: Draws, _: Values) -> list[float]:
    """Three weights in multiples of 0.02, one of them between 0.5 and 0.9, in a drawn order."""
    top = draws.integer(25, 45)
    other = draws.integer(1, 49 - top)
    return draws.shuffled([top / 50, other / 50, (50 - top - other) / 50])


FROBENIUS = Drill(
    id="jacobian.frobenius",
    asks="the Frobenius norm of a concentrated row's Jacobian",
    stars=2,
    moves=("O",),
    params={"p": Made(_concentrated, like="vector")},
    solve=frobenius_norm,
    answer=Number(tolerance=rel(0.01)),
    steps=lambda p, answer: {
        "diagonal": [a * (1 - a) for a in p],
        "pairs": [p[0] * p[1], p[0] * p[2], p[1] * p[2]],
        "on": math.fsum((a * (1 - a)) ** 2 for a in p),
        "off": 2 * math.fsum(x * x for x in (p[0] * p[1], p[0] * p[2], p[1] * p[2])),
        "square": frobenius_norm(p) ** 2,
        "norm": answer,
    },
    slips=(
        Slip(
            "diagonal_only",
            lambda p: math.sqrt(math.fsum((a * (1 - a)) ** 2 for a in p)),
            "Only the diagonal is squared and added; the norm runs over all entries, those beside it included.",
        ),
        Slip(
            "pairs_once",
            lambda p: math.sqrt(
                math.fsum((a * (1 - a)) ** 2 for a in p)
                + math.fsum(x * x for x in (p[0] * p[1], p[0] * p[2], p[1] * p[2]))
            ),
            "Each pair of keys is counted once; its entry stands above and below the diagonal, so twice.",
        ),
        Slip(
            "root_forgotten",
            lambda answer: answer**2,
            "The sum of the squared entries is given; the norm is its square root.",
        ),
        Slip(
            "trace",
            trace,
            "The diagonal is added up, which gives the trace; the Frobenius norm adds squares and takes the root.",
        ),
        Slip(
            "vanished",
            lambda: 0,
            "A concentrated row is taken for a saturated one; the Jacobian vanishes only in the one-hot limit.",
        ),
    ),
)

TWO_KEY_FORMULA = Drill(
    id="jacobian.two_key_eigenvalue_formula",
    asks="the two-key eigenvalue as a formula",
    stars=2,
    moves=("O",),
    params={},
    solve=lambda: "2 p (1-p)",
    answer=Expression(symbols={"p": "0 < p < 1"}, tolerance=EQUIVALENT),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "sigmoid_slope",
            lambda: "p (1-p)",
            "That is one diagonal entry, the slope of a sigmoid; the eigenvalue is the trace and holds two of them.",
        ),
        Slip(
            "doubled",
            lambda: "4 p (1-p)",
            "The trace is doubled; it has two equal entries and already is the eigenvalue, since the other one is 0.",
        ),
    ),
)

MATRIX_FORMULA = Drill(
    id="jacobian.matrix_formula",
    asks="the Jacobian as a matrix formula",
    stars=2,
    moves=("O",),
    params={},
    solve=lambda: "diag(p) - p p^T",
    answer=MatrixExpression(shapes={"p": ["T", 1]}, tolerance=EQUIVALENT),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "diagonal_only",
            lambda: "diag(p) - diag(p) diag(p)",
            "Only the diagonal is kept; the outer product also fills the entries beside it.",
        ),
        Slip(
            "sign",
            lambda: "p p^T - diag(p)",
            "The sign is exchanged; a key's own score raises its weight, so the diagonal has to be positive.",
        ),
        Slip(
            "no_diagonal",
            lambda: "-p p^T",
            "The diagonal matrix of the weights is missing; it comes from the one-hot part of the derivative.",
        ),
    ),
)

VECTOR_FORMULA = Drill(
    id="jacobian.vector_formula",
    asks="the Jacobian times a vector as a formula without the matrix",
    stars=2,
    moves=("O",),
    params={},
    solve=lambda: "p o (y - ones (p^T y))",
    answer=MatrixExpression(shapes={"p": ["T", 1], "y": ["T", 1], "ones": ["T", 1]}, tolerance=EQUIVALENT),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "no_mean",
            lambda: "p o y",
            "The weighted mean is not subtracted; without it the product is that of the diagonal matrix alone.",
        ),
        Slip(
            "elementwise",
            lambda: "p o (ones - p) o y",
            "Softmax is treated like a sigmoid; every entry of the product feels the mean over all keys.",
        ),
        Slip(
            "plain_sum_removed",
            lambda: "p o (y - ones (ones^T y))",
            "The plain sum of the entries is subtracted; what is taken away is their mean under the weights.",
        ),
    ),
)

CARD = Card(
    number=4,
    slug="c04_jacobian",
    title="The softmax Jacobian",
    stars=2,
    moves=("O",),
    statement=(
        r"The derivative of a row of weights by its scores is "
        r"$\operatorname{diag}(\mathbf p) - \mathbf p \mathbf p^\top$: symmetric, without negative eigenvalues, "
        r"with rows that sum to 0 and of rank $T - 1$ while all weights are positive. No eigenvalue exceeds $1/2$, "
        r"and all of it fades as the row becomes one-hot."
    ),
    formulas=(
        r"\frac{\partial p_i}{\partial s_j} = p_i (\delta_{ij} - p_j), \qquad "
        r"J = \operatorname{diag}(\mathbf p) - \mathbf p \mathbf p^\top",
        r"\mathbf u^\top J \mathbf u = \operatorname{Var}_{\mathbf p}(\mathbf u) \ge 0, "
        r"\qquad J \mathbf 1 = \mathbf 0, \qquad \operatorname{rank} J = T - 1",
        r"\lambda_{\max} \le 2 \max_i p_i (1 - p_i) \le \tfrac12, \qquad \lambda = 2 p (1 - p) \text{ for two keys}",
        r"J \mathbf y = \mathbf p \odot \big(\mathbf y - (\mathbf p^\top \mathbf y) \mathbf 1\big)",
    ),
    drills=(
        ENTRY, MATRIX, QUADRATIC_FORM, GERSHGORIN, TWO_KEY, TOP_EIGENVALUE, VECTOR_PRODUCT, RANK, STATEMENTS,
        FROBENIUS, TWO_KEY_FORMULA, MATRIX_FORMULA, VECTOR_FORMULA,
    ),
)  # fmt: skip
