"""ZIP files whose bytes depend on nothing but what is in them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence

DATE = (2024, 1, 1, 0, 0, 0)


def zipped(members: Sequence[tuple[str, bytes]]) -> bytes:
    """An archive of named members, with a fixed date and fixed modes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in members:
            info = zipfile.ZipInfo(name, DATE)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            info.external_attr = 0o644 << 16
            archive.writestr(info, body)
    return out.getvalue()
