"""The 23 scenarios: which drill each part is, which of its parameters are bound, and what a later part follows from.

Where the catalogue puts two questions into one part, they are two parts here.
"""

from __future__ import annotations

from drillgen.scenarios.chains import CHAIN_COST, CHAIN_EXPRESSIVENESS, CHAIN_ORDER, CHAIN_SCALE, CHAIN_SOFTMAX
from drillgen.scenarios.cost import (
    FIT_ON_ONE_GPU,
    HEADS_AND_BUDGET,
    ONE_PASS,
    OUT_OF_MEMORY,
    QUADRUPLE_SLIDE,
    RETRAIN_OR_UPTRAIN,
)
from drillgen.scenarios.mechanism import (
    BACKWARD_BY_HAND,
    HALF_PRECISION,
    SHUFFLED_ENCODER,
    SOFTMAX_GRADIENT,
    TOO_GOOD_LOSS,
    WHITEBOARD,
    WHY_THE_ROOT,
)
from drillgen.scenarios.theory import ATTENTION_ONLY, FIRST_TOKEN, MUP_SCALE, ONE_DIMENSIONAL, STATISTICIAN

ALL = (
    WHITEBOARD, HALF_PRECISION, WHY_THE_ROOT, SOFTMAX_GRADIENT, BACKWARD_BY_HAND, TOO_GOOD_LOSS, SHUFFLED_ENCODER,
    STATISTICIAN, HEADS_AND_BUDGET, ONE_DIMENSIONAL, QUADRUPLE_SLIDE, OUT_OF_MEMORY, FIT_ON_ONE_GPU, RETRAIN_OR_UPTRAIN,
    ONE_PASS, MUP_SCALE, ATTENTION_ONLY, FIRST_TOKEN, CHAIN_SOFTMAX, CHAIN_SCALE, CHAIN_COST, CHAIN_EXPRESSIVENESS,
    CHAIN_ORDER,
)  # fmt: skip
