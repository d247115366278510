"""Write a wheel of pure Python (PEP 427), with equal bytes for equal content.

Build backends would include their own version and the present time.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence

_TIME = (2020, 1, 1, 0, 0, 0)


def write(
    name: str, version: str, files: Mapping[str, bytes], requires: Sequence[str] = (),
    **fields: str,
) -> bytes:  # fmt: skip
    """Build a wheel from the files that it installs, by path; return its bytes.

    ``fields`` are further core metadata, like ``Requires_Python=">=3.11"``.
    """
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    headers = {"Metadata-Version": "2.1", "Name": name, "Version": version, **fields}
    lines = [f"{key.replace('_', '-')}: {value}" for key, value in headers.items()]
    lines += [f"Requires-Dist: {line}" for line in requires]
    tag = "Wheel-Version: 1.0\nGenerator: autograder\nRoot-Is-Purelib: true\n"
    inside = {
        (f"{info}/{path}" if path == "LICENSE" else path): data
        for path, data in sorted(files.items())
    }
    inside[f"{info}/METADATA"] = "\n".join([*lines, ""]).encode()
    inside[f"{info}/WHEEL"] = f"{tag}Tag: py3-none-any\n".encode()
    rows = [f"{path},{_digest(data)},{len(data)}" for path, data in inside.items()]
    inside[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""]).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in inside.items():
            entry = zipfile.ZipInfo(path, _TIME)
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _digest(data: bytes) -> str:
    """A file's SHA-256 digest, as the wheel's list of files, RECORD, states it."""
    code = urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    return f"sha256={code}"
