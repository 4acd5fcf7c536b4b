"""Audits: hold the code against what it promises, for whoever has to sign for it. No data of anybody is read."""

from sparsedp.audits._audit import audit, audit_order
from sparsedp.audits._findings import Audit, Finding

__all__ = ["Audit", "Finding", "audit", "audit_order"]
