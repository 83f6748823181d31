"""Card 18's property rows with one route bent: odds upside down, a wrong gain, a sign, a lost entry."""

import math

from drillgen.verify import c18_sinks as c18
from solvers.c18_sinks import advantage

BENDS = {
    "c18.inverse": [
        lambda: c18.recovered(lambda w, T: math.log((1 - w) * (T - 1) / w)),
        lambda: c18.recovered(lambda w, T: math.log(w * T / (1 - w))),
        lambda: c18.recovered(lambda w, T: advantage(w, T) / math.log(10)),
    ],
    "c18.cap.valid_and_tight": [
        lambda: c18.top_weights(gain=2 * c18.G),
        lambda: c18.top_weights(gain=c18.G / 2),
        lambda: c18.top_weights(opposed=0.0),
    ],
    "c18.unit_distance": [
        lambda: c18.from_cosines(lead=-2.0),
        lambda: c18.from_cosines(lead=1.0),
        lambda: [math.sqrt(x) for x in c18.squared_distances()],
    ],
    "c18.sum_one": [
        lambda: c18.totals(lambda p: p[1:]),
        lambda: c18.totals(lambda p: [x * x for x in p]),
    ],
}
