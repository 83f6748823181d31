"""Card 12: published numbers of stored weights and kept logsumexps."""

from __future__ import annotations

from collections.abc import Callable

from drillgen.verify.rows import Property, Row
from drillgen.verify.toy import gaussian
from solvers import c12_score_memory as c12
from solvers import facts
from solvers.algebra import Row as Scores
from solvers.algebra import logsumexp, softmax
from solvers.draws import Draws

LLAMA2, LLAMA3 = facts.model("llama2-7b"), facts.model("llama3-8b")
LONG = 128 * 1024
"""The context called 128K."""


def scores() -> list[list[float]]:
    """Twelve rows of nine normal scores of spread 3."""
    return gaussian(Draws("verify/c12"), 12, 9, sd=3.0)


def rebuilt(kept: Callable[[Scores], float] = logsumexp) -> list[list[float]]:
    """Weights from scores and one number per row; another number bends it for the tests."""
    return c12.rebuilt_weights(scores(), [kept(s) for s in scores()])


ROWS: dict[str, Row | Property] = {
    "c12.head.llama2_7b": Row(lambda: c12.matrix_bytes(4096, 2)),
    "c12.layer.llama2_7b": Row(lambda: c12.naive_bytes(4096, 2, LLAMA2.h)),
    "c12.model.llama2_7b": Row(lambda: c12.naive_bytes(4096, 2, LLAMA2.h, layers=LLAMA2.L)),
    "c12.T.128k": Row(lambda: LONG),
    "c12.head.llama3_8b_128k": Row(lambda: c12.matrix_bytes(LONG, 2)),
    "c12.layer.llama3_8b_128k": Row(lambda: c12.naive_bytes(LONG, 2, LLAMA3.h)),
    "c12.lse.layer": Row(lambda: c12.online_bytes(4096, LLAMA2.h)),
    "c12.lse.model": Row(lambda: c12.online_bytes(4096, LLAMA2.h, layers=LLAMA2.L)),
    "c12.lse.llama3_8b_128k": Row(lambda: c12.online_bytes(LONG, LLAMA3.h)),
    "c12.recompute.fraction": Row(lambda: c12.recompute_flops(4096, LLAMA2.d) / c12.quadratic_flops(4096, LLAMA2.d)),
    "c12.rebuild.P": Property(rebuilt, lambda: [softmax(s) for s in scores()]),
}
