"""Card 14's property rows with one route bent: another grouping, another scale, heads upside down."""

from drillgen.verify import c14_gqa as c14

BENDS = {
    "c14.gqa_is_mha": [
        lambda: c14.grouped(lambda n, h, H_kv: n % H_kv),
        lambda: c14.grouped(lambda n, h, H_kv: 0),
        lambda: [[[-x for x in row] for row in head] for head in c14.grouped()],
    ],
    "c14.intensity.formula": [
        lambda: c14.intensities(lambda h, n, b: h / n),
        lambda: c14.intensities(lambda h, n, b: 2 * n / (b * h)),
        lambda: c14.intensities(lambda h, n, b: 4 * h / (b * n)),
    ],
}
