"""`wait_for`: an asynchronous framework, called from synchronous code."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

__all__ = ["wait_for"]

T = TypeVar("T")


def wait_for(coroutine: Coroutine[Any, Any, T]) -> T:
    """What `coroutine` returns; also inside a notebook, where a loop is running already.

    Examples
    --------
    >>> async def reduced():
    ...     return 3
    >>> wait_for(reduced())
    3
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(max_workers=1) as apart:
        return apart.submit(asyncio.run, coroutine).result()
