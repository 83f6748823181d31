"""Wrong left routes for the property rows of card 9."""

from drillgen.verify.c09_parameters import counted_weights, four_heads, joined


def _without_last_head():
    heads, W_O = four_heads()
    heads[:, -1] = 0
    return joined(heads, W_O)


def _heads_swapped():
    heads, W_O = four_heads()
    return joined(heads[:, ::-1], W_O)


def _averaged():
    heads, W_O = four_heads()
    return joined(heads / 4, W_O)


def _one_block_for_all():
    heads, W_O = four_heads()
    return sum(heads[:, n] @ W_O[:3] for n in range(4))


BENDS = {
    "c9.8_to_32": [
        lambda: counted_weights(4096, 32) * 4,
        lambda: 32 * 4 * 4096**2,
        lambda: counted_weights(4096, 32) - 4096**2,
    ],
    "c9.concat_is_sum": [_without_last_head, _heads_swapped, _averaged, _one_block_for_all],
}
