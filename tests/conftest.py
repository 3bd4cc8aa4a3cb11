"""What all tests share."""

import os

from hypothesis import HealthCheck, settings

# A slow machine is no failure; in CI the same examples are drawn every time.
settings.register_profile(
    "chatmem_lab",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("chatmem_lab")
