"""Wrong versions of the routes of card 6: a shifted triangle, no mask, a finite fill, a mask after the softmax."""

from drillgen.verify import c06_causal_mask as v
from drillgen.verify.toy import projections
from solvers import c06_causal_mask as c06
from solvers import facts
from solvers.algebra import attention, average, softmax

Q, K, V = projections()

BENDS = {
    "c6.future.causal": [
        lambda: v.first_four(facts.TOY_X_CHANGED, k=2),
        lambda: v.first_four(facts.TOY_X_CHANGED, k=5),
        lambda: v.first_four(facts.TOY_X_CHANGED, k=0),
    ],
    "c6.cache.exact": [
        lambda: attention(Q, K, V)[1],
        lambda: c06.cached_outputs(facts.TOY_X_CHANGED, *v.MAPS),
        lambda: c06.cached_outputs(facts.TOY_X, [[2**0.5 * x for x in row] for row in v.MAPS[0]], *v.MAPS[1:]),
    ],
    "c6.triu0.first_row": [lambda: v.nan_pattern(1), lambda: v.nan_pattern(-1)],
    "c6.post.renormalized": [
        v.zeroed_output,
        v.plain_output,
        lambda: average(softmax([s if j < 3 else 0.0 for j, s in enumerate(v.scores())]), V),
    ],
    "c6.pairs.formula": [
        lambda: [T * (T - 1) // 2 for T in range(1, 40)],
        lambda: [T * T / 2 for T in range(1, 40)],
        lambda: v.counted_pairs(k=0),
    ],
    "c6.exact_zero": [
        lambda: v.above_diagonal(attention(Q, K, V)[0]),
        lambda: v.above_diagonal(attention(Q, K, V, c06.additive(c06.blocked(5), fill=-30.0))[0]),
        lambda: v.above_diagonal(attention(Q, K, V, c06.additive(c06.blocked(5, 2)))[0]),
    ],
}
