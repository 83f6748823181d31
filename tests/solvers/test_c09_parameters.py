"""Card 9 beside its drills: published totals, widths other than h·d_h, unequal d_k and d_v."""

import pytest

from drillgen.verify.c09_parameters import counted_weights, distinct_counts
from solvers import facts
from solvers.c09_parameters import (
    gqa_biases,
    gqa_saving,
    gqa_weights,
    head_change,
    mha_biases,
    mha_weights,
    sum_of_heads,
)


def test_whole_llama_from_its_parts():
    """Embedding, output head, attention, gated block and norms add up to the published total."""
    m = facts.model("llama2-70b")
    layer = gqa_weights(m.d, m.h, m.H_kv, m.d_h) + 3 * m.d * m.d_ff + 2 * m.d
    assert m.L * layer + 2 * m.vocab * m.d + m.d == m.N


def test_whole_gpt2_from_its_parts():
    m = facts.model("gpt2-small")
    attention = mha_weights(m.h, m.d, m.d_h, m.d_h) + mha_biases(m.h, m.d, m.d_h, m.d_h)
    block = 2 * m.d * m.d_ff + m.d_ff + m.d
    norms = 2 * 2 * m.d
    assert m.L * (attention + block + norms) + 2 * m.d + (m.vocab + m.context) * m.d == m.N


@pytest.mark.parametrize("id", sorted(facts.models()))
def test_grouped_and_full_agree_without_grouping(id):
    m = facts.model(id)
    assert gqa_weights(m.d, m.h, m.h, m.d_h) == mha_weights(m.h, m.d, m.d_h, m.d_h)
    assert gqa_biases(m.d, m.h, m.h, m.d_h) == mha_biases(m.h, m.d, m.d_h, m.d_h)
    saved = 1 - gqa_weights(m.d, m.h, m.H_kv, m.d_h) / gqa_weights(m.d, m.h, m.h, m.d_h)
    assert float(gqa_saving(m.h, m.H_kv)) == pytest.approx(saved, rel=1e-12)


def test_unequal_key_and_value_widths():
    assert mha_weights(3, 10, 4, 5) == sum([10 * 4] * 6 + [10 * 5] * 3 + [15 * 10])
    assert mha_biases(3, 10, 4, 5) == 6 * 4 + 3 * 5 + 10


def test_head_change_there_and_back():
    assert head_change(1600, 25, 64, "width") == 0
    assert head_change(512, 8, 32, "head_width") == 3 * 4 * 512 * 512
    assert head_change(512, 8, 2, "head_width") == mha_weights(2, 512, 64, 64) - mha_weights(8, 512, 64, 64)


def test_one_head_alone():
    assert sum_of_heads([[2, -1]], [[1, 0, 3], [0, 1, 1]]) == [2, -1, 5]


def test_distinct_counts_sees_a_dependence_on_heads():
    assert distinct_counts(counted_weights) == 1
    assert distinct_counts(lambda d, h: 4 * h * d * d) == 7
    assert distinct_counts(lambda d, h: counted_weights(d, h) + h) == 7
