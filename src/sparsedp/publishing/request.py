"""What identifies a request to publish, so that an interrupted one is recognised when it is made again."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def request_of(source: object, target: Path, terms: Mapping[str, Any]) -> str:
    """A hash of public facts: what was declared, the name of the source and of the file to write; never of content.

    Of data in memory only the type is known by name; which they are is told by the file they go to.
    """
    name = os.path.abspath(source) if isinstance(source, str | os.PathLike) else type(source).__name__
    facts = {"source": os.fspath(name), "to": str(target.absolute()), **terms}
    return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()
