"""A spend of a ledger in a few words: what it bought, by what, and how far that came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparsedp.privacy.spend import Spend

STATES = {
    "debited": "spent; nothing is stored",
    "stored": "spent; stored, not delivered",
    "delivered": "delivered",
}


def bought(spend: Spend) -> tuple[str, str]:
    """The axes of what was published, and the mechanism; of a stream its schedule and its kind."""
    parameters: Any = spend.parameters
    if "stream" in parameters:
        from sparsedp.time_axis import TimeAxis

        terms = parameters.get("terms", {})
        return f"a stream, {TimeAxis(terms.get('start'), terms.get('every'))}", str(parameters["stream"])
    name, _, cells = spend.purpose.partition(", ")
    return str(parameters.get("cells", cells or name)), _mechanism(name, str(parameters.get("mechanism", "")))


def _mechanism(name: str, written: str) -> str:
    """`Adaptive(workload='cells')` as the option --mechanism has it, adaptive:cells; other settings behind the name."""
    settings = written.partition("(")[2].removesuffix(")").replace("'", "")
    if settings.startswith("workload="):
        workload = settings.removeprefix("workload=")
        return name if workload == "any" else f"{name}:{workload}"
    return f"{name} ({settings.replace('=', ' ')})" if settings else name


def in_words(spend: Spend) -> str:
    """How far a spend has come, with the beginning of its release's digest."""
    if "stream" in spend.parameters:
        return "begun" if spend.state == "delivered" else "spent; no stream was begun"
    digest = "" if spend.release_digest is None else f" ({spend.release_digest[:12]})"
    return f"{STATES[spend.state]}{digest}"
