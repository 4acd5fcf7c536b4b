"""The ways in: counts or records to a release, in one call."""

from sparsedp.publishing.in_memory import DEFAULT, checked_mechanism, release
from sparsedp.publishing.to_file import publish

__all__ = ["DEFAULT", "checked_mechanism", "publish", "release"]
