"""Names that LMSs give, and zips in memory."""

from __future__ import annotations

import io
import zipfile

from tests.classroom.lms.course import EARLY

CANVAS_ADA = "lovelaceada_12345_678901_attention.ipynb"


CANVAS_BOB = "óðinssonbob_12346_678902_attention.ipynb"


MOODLE = "{}_1234567_assignsubmission_{}"


def zipped(*members: tuple[str, bytes], time=EARLY) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        for name, content in members:
            file.writestr(zipfile.ZipInfo(name, time), content)
    return data.getvalue()
