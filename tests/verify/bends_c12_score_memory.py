"""Wrong numbers kept per row in card 12: the maximum, a base-2 logarithm, the exchanged sign, the mean."""

import math

from drillgen.verify import c12_score_memory as v
from solvers.algebra import logsumexp

BENDS = {
    "c12.rebuild.P": [
        lambda: v.rebuilt(max),
        lambda: v.rebuilt(lambda s: logsumexp(s) / math.log(2)),
        lambda: v.rebuilt(lambda s: -logsumexp(s)),
        lambda: v.rebuilt(lambda s: logsumexp(s) - math.log(len(s))),
    ],
}
