"""Ids: topic.name@version/seed, with ~mark behind it where the set is sealed."""

from __future__ import annotations

from typing import NamedTuple

MAX_SEED = 999_999_999


class BadId(ValueError):
    """An id that cannot be read or no longer be built (exit 3)."""


class Id(NamedTuple):
    """drill: topic.name (or scenario.name). version: None where the current one is meant. mark: of a sealed set."""

    drill: str
    version: int | None
    seed: int
    mark: str = ""


def parse(text: str) -> Id:
    """Read an id; what is wrong with it and what would be right is said in one line."""
    shown = text[:80]
    body, _, mark = text.strip().partition("~")
    head, slash, seed_text = body.partition("/")
    name, at, version_text = head.partition("@")
    if not slash or "." not in name:
        raise BadId(f"{shown!r} is no problem id: an id looks like kv_cache.per_token@1/4821")
    if not _digits(seed_text) or int(seed_text) > MAX_SEED:
        raise BadId(f"{shown!r}: behind the slash stands a seed from 0 to {MAX_SEED}")
    if at and not (_digits(version_text) and int(version_text) > 0):
        raise BadId(f"{shown!r}: behind @ stands a version number, e.g. @1")
    if mark and (len(mark) != 8 or not set(mark) <= set("0123456789abcdef")):
        raise BadId(f"{shown!r}: behind ~ stands the eight-digit mark of a sealed set")
    return Id(name, int(version_text) if at else None, int(seed_text), mark)


def _digits(text: str) -> bool:
    return text.isascii() and text.isdecimal() and 0 < len(text) <= 9


class Secret:
    """The secret of a sealed set: it keys the draws, and only a short mark of it stands in the ids."""

    __slots__ = ("_key", "mark")

    def __init__(self, key: bytes) -> None:
        self._key = key
        self.mark = self._digest("drillgen mark")[:8]

    def _digest(self, text: str) -> str:
        import hashlib
        import hmac

        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()

    def draw_key(self, drill: str, version: int, seed: int) -> str:
        """What the draws of one sealed instance are keyed by."""
        return self._digest(f"{drill}@{version}/{seed}")


def draw_key(drill: str, version: int, seed: int, secret: Secret | None = None) -> str:
    """What the draws of an instance are keyed by: its plain id, or a digest of it under the secret."""
    return secret.draw_key(drill, version, seed) if secret else f"{drill}@{version}/{seed}"


def spell(drill: str, version: int, seed: int, secret: Secret | None = None) -> str:
    """The full id."""
    return f"{drill}@{version}/{seed}" + (f"~{secret.mark}" if secret else "")
