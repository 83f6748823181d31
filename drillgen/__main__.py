"""`python -m drillgen`."""

from drillgen.main import main

main()
