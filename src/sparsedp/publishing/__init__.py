"""The ways in: counts or records to a release, in one call."""

from sparsedp.publishing._publish import DEFAULT, checked_mechanism, publish, release

__all__ = ["DEFAULT", "checked_mechanism", "publish", "release"]
