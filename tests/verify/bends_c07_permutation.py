"""Wrong versions of the routes of card 7: the inverse reordering, one side only, a mask, a shifted count."""

from drillgen.verify import c07_permutation as v
from drillgen.verify.toy import causal
from solvers import c07_permutation as c07
from solvers import facts
from solvers.algebra import matmul, transpose

PI = c07.permutation_matrix(v.NINE)

BENDS = {
    "c7.perm.toy": [
        v.toy,
        lambda: v.toy(c07.permute_rows(facts.TOY_X, v.REVERSED), causal(5)),
        lambda: v.toy(c07.permute_rows(facts.TOY_X, [2, 1, 3, 4, 5])),
    ],
    "c7.perm.random": [
        lambda: v.random_head()(c07.permute_rows(v.nine(), c07.inverse(v.NINE))),
        lambda: v.random_head()(v.nine()),
    ],
    "c7.pool.invariant": [
        lambda: v.random_head()(c07.permute_rows(v.nine(), v.NINE))[0],
        lambda: c07.pool_rows(v.random_head()(c07.permute_rows(v.nine(), v.NINE)), "max"),
        lambda: c07.pool_rows(v.random_head()(v.nine()[1:]), "mean"),
    ],
    "c7.bos.share": [
        lambda: [1 / 50] * 50,
        lambda: [1 / (t + 1) for t in range(1, 51)],
        lambda: [1.0, *(1 / (t - 1) for t in range(2, 51))],
    ],
    "c7.bos.no_mask": [v.first_shares, lambda: [*v.unmasked_shares(49), 1 / 50]],
    "c7.perm.orthogonal": [lambda: matmul(PI, PI), lambda: PI, lambda: transpose(PI)],
    "c7.mask.not_invariant": [
        v.visible,
        lambda: c07.permute_rows(v.visible(), v.REVERSED),
        lambda: c07.permute_columns(v.visible(), v.REVERSED),
    ],
}
