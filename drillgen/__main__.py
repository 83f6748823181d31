"""`python -m drillgen`."""

from drillgen.cli import main

main()
