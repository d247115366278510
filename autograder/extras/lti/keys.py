"""The key pair with which an LMS verifies that a score comes from this course."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from autograder.course.errors import CourseError
from autograder.course.files import write
from autograder.extras.lti import web
from autograder.extras.lti.settings import read_private

FILE = Path(".autograder") / "lti_key.pem"


def create(root: Path) -> tuple[str, str]:
    """Create the course's key pair if there is none.

    Returns:
        The public key as JSON for Canvas ("Public JWK"), and as PEM for Moodle.
    """
    jwk = _jwk()
    path = root / FILE
    if not path.exists():
        key = jwk.JWK.generate(kty="RSA", size=2048)
        write(path, key.export_to_pem(private_key=True, password=None), private=True)
    _, public = read(root)
    key = jwk.JWK.from_pem(public.encode())
    key.update(alg="RS256", use="sig")
    return key.export_public(), public


def read(root: Path) -> tuple[str, str]:
    """Read the course's private and public key, both as PEM.

    Raises:
        CourseError: there is no key, others may read it, or it is damaged.
    """
    path = root / FILE
    try:
        private = read_private(path)
        public: bytes = _jwk().JWK.from_pem(private.encode()).export_to_pem()
    except FileNotFoundError:
        raise CourseError(f"there is no {path} yet; run: autograder lti-key") from None
    except ValueError:  # also from text that is not UTF-8
        raise CourseError(f"{path} is damaged; restore it from a backup") from None
    return private, public.decode()


def _jwk() -> Any:
    try:
        from jwcrypto import jwk
    except ImportError:
        raise web.missing("jwcrypto") from None
    return jwk
