"""Card 16 states no property row, so there is nothing to bend."""

BENDS: dict = {}
