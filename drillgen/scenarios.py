"""The scenarios of the catalogue, each saying in code which parameter of which part it binds."""

from __future__ import annotations

from drillgen.scenario import Scenario

ALL: tuple[Scenario, ...] = ()
