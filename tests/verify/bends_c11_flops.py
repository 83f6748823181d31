"""No deviations among the rows of card 11; its counts are bent in tests/solvers/test_c11_flops.py."""

BENDS: dict = {}
