"""Card 11 beside its drills: widths other than h·d_h, ungated blocks, and bent counts."""

from fractions import Fraction

import pytest

from drillgen.verify.c11_flops import (
    flops_of,
    gated_coefficient,
    projection_coefficient,
    quadratic_coefficient,
)
from drillgen.verify.run import matches, published
from solvers import c11_flops, facts
from solvers.c11_flops import (
    causal_crossover,
    causal_quadratic_flops,
    crossover,
    doubling_factor,
    ffn_flops,
    layer_flops,
    matmul_flops,
    per_token_flops,
    projection_flops,
    quadratic_flops,
    quadratic_share,
    visible_pairs,
)

MODELS = sorted(facts.models())
EXPECTED = {r.id: r for r in published() if r.card == 11}


def _shape(id):
    m = facts.model(id)
    return m.d, m.h, m.H_kv, m.d_h, m.d_ff, m.gated


@pytest.mark.parametrize("id", MODELS)
def test_crossover_is_where_the_parts_meet(id):
    shape = _shape(id)
    d, h, H_kv, d_h, d_ff, gated = shape
    T = crossover(*shape)
    assert 4 * T * T * h * d_h == T * (projection_flops(1, d, h, H_kv, d_h) + ffn_flops(1, d, d_ff, gated))
    assert causal_crossover(*shape) == 2 * T - 1
    if h * d_h == d and gated:
        assert d + H_kv * d_h + Fraction(3, 2) * d_ff == T


def test_width_other_than_the_heads():
    """Gemma 7B: d = 3072, but 16 heads of 256 make 4096."""
    m = facts.model("gemma-7b")
    assert m.h * m.d_h != m.d
    assert projection_flops(1, m.d, m.h, m.H_kv, m.d_h) == 4 * 2 * 3072 * 4096
    assert quadratic_flops(10, m.h, m.d_h) == 4 * 100 * 4096


def test_quadratic_products_by_counting():
    assert quadratic_flops(7, 3, 4) == flops_of([(7, 4, 7), (7, 7, 4)] * 3)
    pairs = [(i, j) for i in range(7) for j in range(i + 1)]
    assert visible_pairs(7) == len(pairs)
    assert causal_quadratic_flops(7, 3, 4) == sum(2 * 2 * 4 for _ in range(3) for _ in pairs)


def test_ungated_block_has_two_matrices():
    assert ffn_flops(5, 4, 16, gated=False) == 2 * matmul_flops(5, 4, 16)
    assert ffn_flops(5, 4, 16) == 3 * matmul_flops(5, 4, 16)


@pytest.mark.parametrize("causal", [False, True])
def test_layer_is_its_tokens(causal):
    shape = _shape("llama3-8b")
    T = 100
    if causal:
        total = sum(sum(per_token_flops(t, *shape)) for t in range(1, T + 1))
    else:
        total = T * sum(per_token_flops(T, *shape))
    assert layer_flops(T, *shape, causal=causal) == total


def test_doubling_factor_from_the_share():
    for T in (1, 100, 10**4, 10**7):
        shape = _shape("mistral-7b")
        assert doubling_factor(T, *shape) == pytest.approx(2 + 2 * quadratic_share(T, *shape), rel=1e-12)


@pytest.mark.parametrize(
    ("row", "right", "bent"),
    [
        # K and V forgotten; a multiply-add as one
        ("c11.coef.proj", projection_coefficient, lambda: Fraction(flops_of([(5, 6, 6)] * 2), 5 * 36)),
        ("c11.coef.proj", projection_coefficient, lambda: projection_coefficient() / 2),
        # one product of the two; one head of the three
        ("c11.coef.quad", quadratic_coefficient, lambda: Fraction(flops_of([(10, 4, 10)] * 3), 100 * 12)),
        (
            "c11.coef.quad",
            quadratic_coefficient,
            lambda: Fraction(flops_of([(10, 4, 10), (10, 10, 4)]), 100 * 12),
        ),
        # the gate left out
        ("c11.coef.ffn", gated_coefficient, lambda: Fraction(flops_of([(5, 4, 7), (5, 7, 4)]), 5 * 28)),
    ],
)
def test_counted_coefficients_and_bent_counts(row, right, bent):
    printed = EXPECTED[row]
    assert matches(float(right()), printed.expected, printed.tol)
    assert not matches(float(bent()), printed.expected, printed.tol)


@pytest.mark.parametrize("id", MODELS)
def test_worked_steps_hold_for_every_model(id):
    """Also where the width is not h·d_h or the block is not gated: `solve` takes any model."""
    values, answer, _ = c11_flops.CROSSOVER.at({"model": id})
    steps = c11_flops.CROSSOVER.named_steps(values, answer)
    assert steps["projection_part"] + steps["ffn_part"] == answer
    for drill in (c11_flops.SHARE, c11_flops.CAUSAL_SHARE):
        values, answer, _ = drill.at({"model": id, "T": 2048})
        steps = drill.named_steps(values, answer)
        assert steps["projection_part"] + steps["ffn_part"] + steps["quadratic_part"] == steps["all"]
        assert steps["quadratic_part"] / steps["all"] == pytest.approx(answer, rel=1e-12)
