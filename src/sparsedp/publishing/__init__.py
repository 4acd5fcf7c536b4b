"""The ways in: counts or records to a release, in one call."""

from sparsedp.publishing.from_records import publish
from sparsedp.publishing.in_memory import DEFAULT, checked_mechanism, release

__all__ = ["DEFAULT", "checked_mechanism", "publish", "release"]
