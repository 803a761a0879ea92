"""Lengths, world sizes and seeds as properties draw them: the classes that matter, each often."""

from __future__ import annotations

import functools

from hypothesis import strategies as st

LARGEST = 1 << 20
"""Indices alone are free: no data is behind them."""

BIG = (1 << 15, 1 << 16, (1 << 24) + 1, (1 << 31) + 5, (1 << 53) + 1, (1 << 62) + 3, 1 << 24, 7)
"""Indices past what small integers and floats hold; they are handed on, no data is behind them."""

ROUNDED = ((49, 49), (98, 49), (107, 107), (525, 75), (539, 77))
"""Lengths and divisors: whoever multiplies by 1 / divisor in floats is off by one."""

UNCOUNTABLE = ((1 << 24) + 1, 1_000_000_007)
"""Lengths that nobody iterates over, past what single precision holds."""

PRIMES = (2, 3, 5, 7, 11, 13, 17, 31, 61, 97, 127, 251, 509, 1021, 8191, 65537, 131071)


@functools.cache
def lengths(least: int = 0, most: int = LARGEST, around: int = 1) -> st.SearchStrategy[int]:
    """Dataset lengths: tiny, near multiples of `around`, primes, and by order of magnitude.

    The last two orders are drawn more seldom: they cost more than all others together.
    """
    near = st.builds(
        lambda k, d: max(least, k * around + d), st.integers(0, 40), st.integers(-1, 1)
    )
    powers = st.builds(lambda p, d: max(least, 2**p + d), st.integers(0, 13), st.integers(-1, 1))
    huge = [n for n in (65_537, 131_071, 1 << 17, LARGEST - 1, LARGEST) if least <= n <= most]
    primes = [n for n in PRIMES if least <= n <= most]
    tiny, small = (st.integers(least, max(least, min(top, most))) for top in (9, 40))
    usual = [tiny, small, near, powers, st.sampled_from(primes)]
    usual += [st.integers(low, 10 * low - 1) for low in (100, 1000) if low <= most]
    seldom = [st.integers(10_000, 1 << 16)] if most > 10_000 else []
    seldom += [st.sampled_from(huge)] if huge else []
    return st.one_of(*usual * 6, *seldom).filter(lambda n: n <= most)


@functools.cache
def seeds() -> st.SearchStrategy[int]:
    """Seeds as people choose them."""
    return st.one_of(st.integers(0, 5), st.integers(0, 2**31 - 1))


@functools.cache
def epochs() -> st.SearchStrategy[list[int]]:
    """A few epochs in any order, repeated or not."""
    return st.lists(st.integers(0, 12), min_size=1, max_size=4)
