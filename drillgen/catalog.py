"""Finds cards and drills by name, importing only the card that is asked for.

Nothing registers itself: the modules `solvers/cNN_topic.py` are listed and their `CARD` is read. A drill's topic is
its card's slug without the number, so an id leads to one module.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from importlib import import_module

import solvers
from solvers.drill import Card, Drill
from solvers.errors import Unknown


@cache
def slugs() -> dict[int, str]:
    """Card number -> slug, e.g. 13 -> c13_kv_cache."""
    assert solvers.__file__ is not None
    # os.listdir, since `check` would pay for pathlib alone.
    files = sorted(os.listdir(os.path.dirname(solvers.__file__)))  # noqa: PTH120, PTH208
    names = [f[:-3] for f in files if f[0] == "c" and f[1:3].isdecimal() and f[3] == "_" and f.endswith(".py")]
    return {int(n[1:3]): n for n in names}


@cache
def by_slug(slug: str) -> Card:
    """The card of one slug."""
    found: Card = import_module(f"solvers.{slug}").CARD
    return found


def card(name: str | int) -> Card:
    """A card by number (13), topic (kv_cache) or slug (c13_kv_cache)."""
    text = str(name).strip()
    for number, slug in slugs().items():
        if text in (slug, slug[4:]) or (text.isdecimal() and int(text) == number):
            return by_slug(slug)
    raise Unknown("card", text, [s[4:] for s in slugs().values()] + [str(n) for n in slugs()])


def cards() -> Iterator[Card]:
    """All cards in order."""
    return (by_slug(slug) for slug in slugs().values())


def drills() -> Iterator[tuple[Card, Drill]]:
    """All drills with their cards, in order."""
    return ((c, d) for c in cards() for d in c.drills)


def drill(id: str) -> tuple[Card, Drill]:
    """A drill by id (topic.name) and its card; imports that card only."""
    topic = id.partition(".")[0]
    for slug in slugs().values():
        if slug[4:] == topic:
            found = by_slug(slug)
            for d in found.drills:
                if d.id == id:
                    return found, d
            raise Unknown("drill", id, [d.id for d in found.drills])
    raise Unknown("drill", id, [d.id for _, d in drills()])
