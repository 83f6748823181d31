"""Hypothesis draws the same examples in every run, so that a failure is always the change's own.

`HYPOTHESIS_PROFILE=explore` draws fresh ones, to look for what nobody has thought of.
"""

import os

from hypothesis import HealthCheck, settings

settings.register_profile("fixed", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
