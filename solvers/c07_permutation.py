"""Card 7: what reordering the tokens does to attention without positions, and what a causal mask changes.

Source: card 7. A reordering pi is a list of 1..T: place i now holds old token pi[i], so row i of Π X is row pi[i] of
X. X and O are [T, n], S and P [T, T]. Plain numbers, no units.
"""

# ruff: noqa: E741 - O is the field's name for the outputs
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any

from grading.kinds.choice import Choice
from grading.kinds.expression import Expression
from grading.kinds.matrix import Matrix
from grading.kinds.matrix_expression import MatrixExpression
from grading.kinds.number import Number
from grading.kinds.option import Option
from grading.kinds.vector import Vector
from grading.tolerance import EQUIVALENT, EXACT, rel, within
from solvers.domains import Ints, Made, OneOf, Values
from solvers.domains import Matrix as MatrixOf
from solvers.draws import Draws
from solvers.drill import Card, Drill, Slip

Order = Sequence[int]
Mat = Sequence[Sequence[Any]]


def inverse(pi: Order) -> list[int]:
    """The reordering that undoes pi."""
    out = [0] * len(pi)
    for place, token in enumerate(pi, 1):
        out[token - 1] = place
    return out


def permutation_matrix(pi: Order) -> list[list[int]]:
    """Π [T, T] with Π X = the rows of X in the new order: row i has its 1 in column pi[i]. ΠᵀΠ = I."""
    return [[int(j == token) for j in range(1, len(pi) + 1)] for token in pi]


def permute_rows(A: Mat, pi: Order) -> list[list[Any]]:
    """Π A: what an equivariant layer puts out for reordered tokens."""
    return [list(A[token - 1]) for token in pi]


def permute_columns(A: Mat, pi: Order) -> list[list[Any]]:
    """A Πᵀ: keys reordered, queries left where they are."""
    return [[row[token - 1] for token in pi] for row in A]


def permute_both(A: Mat, pi: Order) -> list[list[Any]]:
    """Π A Πᵀ: scores or weights of reordered tokens, entry (i, j) = A[pi[i], pi[j]]."""
    return permute_columns(permute_rows(A, pi), pi)


def pool_rows(O: Mat, how: str) -> list[Any]:
    """Mean, max or sum over tokens, [T, n] → [n]: a symmetric summary, so any order of the rows gives the same."""
    columns = list(zip(*O, strict=True))
    if how == "max":
        return [max(c) for c in columns]
    totals = [sum(c) for c in columns]
    return totals if how == "sum" else [t / len(O) for t in totals]


def running_means(values: Sequence[Any]) -> list[Any]:
    """Causal outputs under equal scores: position t averages the first t values."""
    return [math.fsum(values[:t]) / t for t in range(1, len(values) + 1)]


def first_token_share(t: int) -> float:
    """Weight that position t of a causal layer with equal scores puts on the first token: 1/t."""
    return 1 / t


def first_tokens_output(t: int, n: int = 1) -> float:
    """Output at position t when the first n tokens carry value 1 and all others 0: min(n, t)/t."""
    return min(n, t) / t


def symmetry(layer: Callable[[list[list[float]]], Mat], X: Mat, pi: Order, tolerance: float = 1e-9) -> str:
    """Which of "equivariant", "invariant" and "neither" a layer shows on one input X under one reordering."""
    old, new = layer([list(row) for row in X]), layer(permute_rows(X, pi))
    if len(old) == len(X) and _same(new, permute_rows(old, pi), tolerance):
        return "equivariant"
    return "invariant" if _same(new, old, tolerance) else "neither"


def _same(A: Mat, B: Mat, tolerance: float) -> bool:
    return all(abs(a - b) <= tolerance for x, y in zip(A, B, strict=True) for a, b in zip(x, y, strict=True))


# --------------------------------------------------------------------------------------------------- what is drawn

REORDERINGS = {T: tuple(p for p in permutations(range(1, T + 1)) if inverse(p) != list(p)) for T in (3, 4)}
"""Reorderings that are not their own inverse: for those alone pi and its inverse can be told apart."""


def _reordering(draws: Draws, so_far: Values) -> list[int]:
    return list(draws.choice(REORDERINGS[so_far["T"]]))


PI4 = Made(_reordering, like="vector", values=len(REORDERINGS[4]))
PI3 = Made(_reordering, like="vector", values=len(REORDERINGS[3]))


def _later(draws: Draws, so_far: Values) -> int:
    return draws.integer(2, so_far["T"] - 1)


def _first(draws: Draws, so_far: Values) -> int:
    return draws.choice([n for n in (1, 1, 2, 3) if n < so_far["t"]])


def _distinct(draws: Draws, _: Values) -> list[int]:
    return draws.sample(range(13), 4)


BOS_SHARE = Drill(
    id="permutation.bos_share",
    asks="the position that a causal mask gives away",
    stars=2,
    moves=("S",),
    params={
        "T": Ints(6, 40), "t": Made(_later, like="whole", values=38), "n": Made(_first, like="whole", values=3),
    },
    solve=lambda t, n: first_tokens_output(t, n),
    answer=Number(tolerance=rel(0.01)),
    steps=lambda t, n, answer: {"weight": Fraction(1, t), "exact": Fraction(n, t), "output": answer},
    slips=(
        Slip(
            "mask_missing",
            lambda T, n: n / T,
            "The average runs over all tokens; under a causal mask position t sees only t of them.",
        ),
        Slip(
            "self_excluded",
            lambda t, n: n / (t - 1),
            "The position itself is left out; it sees its own key, so the weight is spread over t keys.",
        ),
        Slip(
            "off_by_one",
            lambda t, n: n / (t + 1),
            "One key too many is counted; positions count from 1, so position t sees t keys.",
        ),
    ),
)  # fmt: skip

PERMUTED_OUTPUT = Drill(
    id="permutation.permuted_output",
    asks="the outputs after the tokens are reordered",
    stars=2,
    moves=("S",),
    params={"T": OneOf(4), "pi": PI4, "O": MatrixOf("T", 2, Ints(0, 9))},
    require=lambda O: len({tuple(row) for row in O}) == len(O),
    solve=lambda O, pi: permute_rows(O, pi),
    answer=Matrix(tolerance=EXACT),
    steps=lambda pi, O, answer: {"first_token": pi[0], "first_row": O[pi[0] - 1], "outputs": answer},
    slips=(
        Slip(
            "inverse_permutation",
            lambda O, pi: permute_rows(O, inverse(pi)),
            "The inverse reordering is applied; row i of the result is the old row of the token that now stands at i.",
        ),
        Slip(
            "unchanged",
            lambda O: [list(row) for row in O],
            "The layer is taken to be invariant; its outputs move along with their tokens.",
        ),
        Slip(
            "reversed",
            lambda O: [list(row) for row in reversed(O)],
            "The rows are read backwards; each output goes where its own token went.",
        ),
    ),
)

PERMUTED_SCORES = Drill(
    id="permutation.permuted_scores",
    asks="the scores after the tokens are reordered",
    stars=2,
    moves=("S",),
    params={"T": OneOf(3), "pi": PI3, "S": MatrixOf("T", "T", Ints(-4, 9))},
    require=lambda S: len({x for row in S for x in row}) >= 7,
    solve=lambda S, pi: permute_both(S, pi),
    answer=Matrix(tolerance=EXACT),
    steps=lambda S, pi, answer: {
        "q": pi[0],
        "k": pi[1],
        "entry": S[pi[0] - 1][pi[1] - 1],
        "rows": permute_rows(S, pi),
        "scores": answer,
    },
    slips=(
        Slip(
            "rows_only",
            lambda S, pi: permute_rows(S, pi),
            "Only the queries are moved; every token is a key as well, so the columns move too.",
        ),
        Slip(
            "columns_only",
            lambda S, pi: permute_columns(S, pi),
            "Only the keys are moved; every token is a query as well, so the rows move too.",
        ),
        Slip(
            "inverse_permutation",
            lambda S, pi: permute_both(S, inverse(pi)),
            r"The inverse reordering is applied; place $i$ holds old token $\pi(i)$, so entry $(i, j)$ comes "
            "from there.",
        ),
    ),
)

POOLED = Drill(
    id="permutation.pooled",
    asks="the pooled outputs after the tokens are reordered",
    stars=2,
    moves=("S",),
    params={
        "T": OneOf(4), "pi": PI4, "O": MatrixOf("T", 2, Ints(-3, 9)), "pool": OneOf("mean", "max", "sum"),
    },
    hold=("pool",),
    solve=lambda O, pool: pool_rows(O, pool),
    answer=Vector(tolerance=within(0.0005)),
    steps=lambda O, answer: {
        "columns": [list(c) for c in zip(*O, strict=True)],
        "pooled": answer,
    },
    slips=(
        Slip(
            "first_row_of_permuted",
            lambda O, pi: list(O[pi[0] - 1]),
            "The first row after reordering is read out, which depends on the order; pooling runs over all rows.",
        ),
        Slip(
            "as_mean",
            lambda O, pool: None if pool == "mean" else pool_rows(O, "mean"),
            "The rows are averaged; another pool is asked for.",
        ),
        Slip(
            "as_sum",
            lambda O, pool: None if pool == "sum" else pool_rows(O, "sum"),
            "The rows are added; another pool is asked for.",
        ),
    ),
)  # fmt: skip


# ----------------------------------------------------------------------------------------------------- in matrices


@dataclass(frozen=True)
class Line:
    """How one quantity changes: its name in text, its formula and the slips that belong to it."""

    text: str
    formula: str
    slips: dict[str, str]


LINES = {
    "scores": Line(
        "the new scores",
        "Pi S Pi^T",
        {"rows_only": "Pi S", "inverse": "Pi^T S Pi", "no_transpose": "Pi S Pi", "invariant": "S"},
    ),
    "weights": Line(
        "the new weights",
        "Pi P Pi^T",
        {"rows_only": "Pi P", "inverse": "Pi^T P Pi", "no_transpose": "Pi P Pi", "invariant": "P"},
    ),
    "output": Line("the new outputs", "Pi O", {"inverse": "Pi^T O", "invariant": "O"}),
    "column_sums_of_output": Line(
        "the sums of the new outputs over all tokens (a row of $d_v$ numbers)",
        "ones^T O",
        {"mean_taken": "ones^T O/T", "first_row": "e_1^T Pi O"},
    ),
}
"""What the four targets become when X turns into Π X."""

LINE_REMARKS = {
    "rows_only": "Only the rows are moved; keys move with their tokens too, so a factor on the right is needed.",
    "inverse": "The two transposes are exchanged, which undoes the reordering instead of applying it.",
    "no_transpose": "The right factor lacks its transpose; it comes from the transposed keys.",
    "invariant": "Nothing is moved; without positions a layer is equivariant: what belongs to a token moves with it.",
    "mean_taken": "The sum is divided by T; the plain sum over tokens is asked for.",
    "first_row": "One row is read out; the sum runs over all rows and does not notice their order.",
}


def _line_slip(id: str) -> Callable[[str], str | None]:
    return lambda target: LINES[target].slips.get(id)


EQUIVARIANCE_LINE = Drill(
    id="permutation.equivariance_line",
    asks="how one quantity changes with the reordering, in matrices",
    stars=2,
    moves=("S",),
    params={"target": OneOf(*LINES)},
    hold=("target",),
    derive=lambda target: {"target_text": LINES[target].text},
    solve=lambda target: LINES[target].formula,
    answer=MatrixExpression(
        shapes={
            "Pi": ["T", "T"], "S": ["T", "T"], "P": ["T", "T"], "O": ["T", "d_v"], "ones": ["T", 1], "e_1": ["T", 1],
        },
        known={"Pi": "permutation", "P": "softmax(S)"},
        tolerance=EQUIVALENT,
    ),
    steps=lambda answer: {"formula": answer},
    slips=tuple(Slip(id, _line_slip(id), remark, branch=True) for id, remark in LINE_REMARKS.items()),
)  # fmt: skip


# -------------------------------------------------------------------------------------------------- classification


@dataclass(frozen=True)
class Operation:
    """An operation on the token vectors, what it is under reordering, and why."""

    text: str
    label: str
    reason: str


OPERATIONS = {
    "attention_no_mask": Operation(
        "One attention head without mask and without positions",
        "equivariant",
        r"Scores become $\Pi S \Pi^\top$, weights $\Pi P \Pi^\top$ and outputs $\Pi P \Pi^\top \Pi V = \Pi O$.",
    ),
    "multi_head_attention_no_mask": Operation(
        "Multi-head attention (heads concatenated, output map included) without mask and without positions",
        "equivariant",
        r"Each head gives $\Pi O$; joining columns and multiplying from the right leaves $\Pi$ in front.",
    ),
    "position_wise_ffn": Operation(
        "A feed-forward network applied to each token's vector on its own",
        "equivariant",
        "Each row is mapped by itself, so it keeps its result wherever it stands.",
    ),
    "stack_of_unmasked_layers": Operation(
        "A stack of unmasked transformer layers (attention, feed-forward, residuals, layer norm) without positions",
        "equivariant",
        r"Each part is equivariant, so $\Pi$ passes through one after the other.",
    ),
    "attention_then_mean_pool": Operation(
        "Unmasked attention without positions, then the mean over all tokens",
        "invariant",
        r"The outputs become $\Pi O$, and a mean over rows does not see their order.",
    ),
    "attention_then_max_pool": Operation(
        "Unmasked attention without positions, then the largest value of each coordinate over all tokens",
        "invariant",
        r"The outputs become $\Pi O$, and a maximum over rows does not see their order.",
    ),
    "causal_attention": Operation(
        "Causal attention without positions",
        "neither",
        r"$\Pi M \Pi^\top \ne M$: a token that moves sees other keys.",
    ),
    "attention_with_absolute_positions": Operation(
        "Unmasked attention with a position vector added to the token at each place",
        "neither",
        "The position vectors stay while the tokens move, so each token meets another one.",
    ),
    "attention_with_rope": Operation(
        "Unmasked attention with rotary position embeddings (rotations by the place)",
        "neither",
        "Scores depend on the distance of places, and the reordering changes distances.",
    ),
    "read_out_first_row": Operation(
        "Unmasked attention without positions, then only the output at the first place is read",
        "neither",
        "Another token stands first, so another output is read; a single row cannot be carried along.",
    ),
}

LABELS = {
    "equivariant": r"Equivariant: $f(\Pi X) = \Pi f(X)$ for every reordering $\Pi$.",
    "invariant": r"Invariant: $f(\Pi X) = f(X)$ for every reordering $\Pi$.",
    "neither": "Neither of the two.",
}


WRONG = {
    ("equivariant", "invariant"): "The rows of the result move with their tokens, so it is not the same.",
    ("equivariant", "neither"): "The rows of the result move exactly as the tokens do.",
    ("invariant", "equivariant"): "The result has no row for each token that could be carried along.",
    ("invariant", "neither"): "The result stays the same for every reordering.",
    ("neither", "equivariant"): "The new result is not the old one with its rows moved.",
    ("neither", "invariant"): "Another order of the tokens gives another result.",
}
"""Why a label (second) is wrong for operations of another one (first)."""


def _labels(operation: str) -> list[Option]:
    found = OPERATIONS[operation]
    return [
        Option(key, text, found.reason if key == found.label else WRONG[found.label, key])
        for key, text in LABELS.items()
    ]


CLASSIFY = Drill(
    id="permutation.classify",
    asks="equivariant, invariant or neither",
    stars=2,
    moves=("S",),
    params={"operation": OneOf(*OPERATIONS)},
    derive=lambda operation: {"operation_text": OPERATIONS[operation].text},
    solve=lambda operation: OPERATIONS[operation].label,
    options=_labels,
    answer=Choice(tolerance=EXACT),
    steps=lambda answer: {"label": answer},
    slips=(
        Slip(
            "says_invariant",
            lambda: "invariant",
            "Invariant would mean the same result in the same place; only a symmetric summary over tokens is that.",
        ),
        Slip(
            "says_equivariant",
            lambda: "equivariant",
            "Equivariance fails with a mask, positions or a fixed place, and a pool leaves no rows to move.",
        ),
    ),
)

CAUSAL_RUNNING_MEAN = Drill(
    id="permutation.causal_running_mean",
    asks="causal outputs of reordered tokens under equal scores",
    stars=2,
    moves=("S",),
    params={"T": OneOf(4), "pi": PI4, "values": Made(_distinct, like="vector")},
    solve=lambda pi, values: running_means([values[token - 1] for token in pi]),
    answer=Vector(tolerance=within(0.0005)),
    steps=lambda pi, values, answer: {
        "reordered": [values[token - 1] for token in pi],
        "sums": [sum(values[token - 1] for token in pi[:t]) for t in range(1, len(pi) + 1)],
        "means": answer,
    },
    slips=(
        Slip(
            "assumed_equivariant",
            lambda pi, values: [running_means(values)[token - 1] for token in pi],
            "The old outputs are reordered; a causal mask is not equivariant, so the prefix means are taken anew.",
        ),
        Slip(
            "mask_missing",
            lambda values: [math.fsum(values) / len(values)] * len(values),
            "Every position averages all values; under a causal mask position t averages the first t only.",
        ),
        Slip(
            "original_order",
            lambda values: running_means(values),
            "The values are left in their old order; reorder first, then average the prefixes.",
        ),
    ),
)

RUNNING_MEAN_FORMULA = Drill(
    id="permutation.running_mean_formula",
    asks="a causal output under equal scores as a formula",
    stars=2,
    moves=("S",),
    params={},
    solve=lambda: "(a + (t-1) c)/t",
    answer=Expression(symbols={"t": "integer >= 1", "a": "real", "c": "real"}, tolerance=EQUIVALENT),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "off_by_one",
            lambda: "(a + t c)/(t+1)",
            "One key too many is counted; position t sees t keys, one of them the first.",
        ),
        Slip(
            "sum",
            lambda: "a + (t-1) c",
            "The values are added; equal scores give each of the t keys the weight 1/t.",
        ),
        Slip(
            "first_only",
            lambda: "a/t",
            "Only the first token is counted; the other visible tokens carry a value as well.",
        ),
    ),
)

CARD = Card(
    number=7,
    slug="c07_permutation",
    title="Attention and the order of tokens",
    stars=2,
    moves=("S",),
    statement=(
        "Without mask and positions a layer treats its tokens as a set: reorder them and the outputs are reordered in "
        "the same way (equivariance), while a mean, sum or maximum over tokens stays as it was (invariance). A causal "
        r"mask breaks this: under equal scores position $t$ gives the first token the weight $1/t$, so that the place "
        "can be read off."
    ),
    formulas=(
        r"\operatorname{Attn}(\Pi X) = \Pi \operatorname{Attn}(X)",
        r"(\Pi Q)(\Pi K)^\top = \Pi\, Q K^\top \Pi^\top, \qquad \Pi^\top \Pi = I, "
        r"\qquad \mathbf 1^\top \Pi = \mathbf 1^\top",
        r"\text{causal, equal scores: } \mathbf o_t = \frac1t \sum_{j \le t} \mathbf v_j",
    ),
    drills=(
        BOS_SHARE, PERMUTED_OUTPUT, PERMUTED_SCORES, POOLED, EQUIVARIANCE_LINE, CLASSIFY, CAUSAL_RUNNING_MEAN,
        RUNNING_MEAN_FORMULA,
    ),
)  # fmt: skip
