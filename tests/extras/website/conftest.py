"""A browser to look at the website with."""

from tests.browser.conftest import chromium, page

__all__ = ["chromium", "page"]
