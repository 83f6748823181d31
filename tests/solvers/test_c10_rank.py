"""Card 10 beside its drills: exact ranks, ties, degenerate key sets, and bent rows of the verification."""

import random

import pytest

from drillgen.verify.c10_rank import fraction_of_extremes, most_top_keys, one_dimensional
from solvers.algebra import matmul, transpose
from solvers.c10_rank import (
    linear_attention_rank,
    log_weight_rank,
    outer_products,
    rank,
    reachable_2d,
    score_rank,
    top_keys,
    top_keys_1d,
)


def _integers(rng, rows, columns):
    return [[rng.randint(-3, 3) for _ in range(columns)] for _ in range(rows)]


@pytest.mark.parametrize("seed", range(20))
def test_exact_rank_of_a_product(seed):
    rng = random.Random(seed)
    T, d_k = rng.randint(1, 7), rng.randint(1, 7)
    Q, K = _integers(rng, T, d_k), _integers(rng, T, d_k)
    S = matmul(Q, transpose(K))
    assert rank(S) <= score_rank(T, d_k)
    shifted = [[s - i for s in row] for i, row in enumerate(S)]
    assert rank(shifted) <= log_weight_rank(T, d_k)
    terms = outer_products(Q, K)
    assert all(rank(t) <= 1 for t in terms)
    assert [[sum(t[i][j] for t in terms) for j in range(T)] for i in range(T)] == S


def test_bounds_are_reached():
    powers = [[x**c for c in range(3)] for x in range(6)]
    S = matmul(powers, transpose(powers))
    assert rank(S) == score_rank(6, 3) == linear_attention_rank(6, 3) == 3
    # One number per row, taken off, that no combination of the columns spells: rank d_k + 1.
    assert (
        rank(
            [
                [s - 2**i for s in row]
                for i, row in enumerate(matmul([r[1:] for r in powers], transpose([r[1:] for r in powers])))
            ]
        )
        == 3
    )


def test_small_sequences_bound_the_rank():
    assert score_rank(4, 128) == 4
    assert log_weight_rank(4, 3) == log_weight_rank(4, 9) == 4
    assert linear_attention_rank(3, 16) == 3


def test_rank_of_simple_matrices():
    assert rank([[0, 0], [0, 0]]) == 0
    assert rank([[0, 1], [0, 2], [3, 0]]) == 2
    assert rank([[1, 2, 3], [2, 4, 6]]) == 1


@pytest.mark.parametrize("seed", range(30))
def test_one_dimension_agrees_with_any_dimension(seed):
    rng = random.Random(seed)
    keys, queries = [rng.randint(-3, 3) for _ in range(5)], [rng.randint(-2, 2) for _ in range(3)]
    assert top_keys_1d(keys, queries) == top_keys([[q] for q in queries], [[k] for k in keys])


def test_hull_without_area_and_with_repeats():
    assert reachable_2d([[0, 0]]) == [1]
    assert reachable_2d([[0, 0], [2, 2], [1, 1]]) == [1, 2]
    assert reachable_2d([[0, 0], [0, 0], [2, 2]]) == [3]
    assert reachable_2d([[0, 0], [2, 0], [0, 2], [2, 2], [1, 1], [1, 0], [2, 1]]) == [1, 2, 3, 4]


@pytest.mark.parametrize("seed", range(20))
def test_corners_win_alone_and_others_never(seed):
    rng = random.Random(seed)
    keys = [[rng.randint(-3, 3), rng.randint(-3, 3)] for _ in range(6)]
    seen = set()
    for _ in range(3000):
        q = [rng.gauss(0, 1), rng.gauss(0, 1)]
        top = top_keys([q], keys)
        if len(top) == 1:
            seen.update(top)
    assert sorted(seen) == reachable_2d(keys)


def test_rows_see_a_head_of_two_dimensions():
    """The counts behind the verification rows do fail where a key beside the extremes wins."""
    heads = one_dimensional(50)
    assert (fraction_of_extremes(heads), most_top_keys(heads)) == (1.0, 2)
    bent = [(top | {next(j for j in range(64) if j not in extremes)}, extremes) for top, extremes in heads]
    assert fraction_of_extremes(bent) == 0.0
    assert most_top_keys(bent) == 3
