"""What `drillgen simulate` runs: one module a simulation, giving a JSON object, table lines and a plot."""
