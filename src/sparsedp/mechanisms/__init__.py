"""One small file a mechanism: its sensing, its recovery, its guarantee; and the registry of them all, with their names.

In text a mechanism is "laplace" or "adaptive:ranges".
"""

from dataclasses import fields, is_dataclass

from sparsedp import validate
from sparsedp.errors import InvalidInput
from sparsedp.mechanisms.adaptive import Adaptive as Adaptive
from sparsedp.mechanisms.base import Mechanism as Mechanism
from sparsedp.mechanisms.compressive import Compressive as Compressive
from sparsedp.mechanisms.hierarchical import Hierarchical as Hierarchical
from sparsedp.mechanisms.laplace import Laplace as Laplace
from sparsedp.mechanisms.privelet import Privelet as Privelet

MECHANISMS: dict[str, type[Mechanism]] = {
    mechanism.name: mechanism for mechanism in (Adaptive, Laplace, Hierarchical, Privelet, Compressive)
}
"""Every mechanism by the name `sdp.release(…, mechanism=name)` takes."""


def mechanism_named(text: str) -> Mechanism:
    """The mechanism of that name; that of `Adaptive` may have its workload behind a colon.

    >>> mechanism_named("adaptive:cells")
    Adaptive(workload='cells')
    """
    name, colon, workload = text.partition(":")
    kind = validate.one_of("mechanism", name, MECHANISMS)
    if not colon:
        return kind()
    if kind is not Adaptive:
        raise InvalidInput("mechanism", f"{text[:40]!r}", f"give {name!r}: a workload is a setting of adaptive only")
    return Adaptive(workload)


def name_and_settings(mechanism: Mechanism) -> str:
    """What it is called, and how it was set where that is not the default: "adaptive:ranges".

    >>> name_and_settings(Hierarchical(branching=16))
    'hierarchical (branching 16)'
    """
    if isinstance(mechanism, Adaptive):
        return mechanism.name if mechanism == Adaptive() else f"{mechanism.name}:{mechanism.workload_text}"
    if not is_dataclass(mechanism):
        return mechanism.name
    usual = type(mechanism)()
    settings = [
        f"{field.name} {value}"
        for field in fields(mechanism)
        if field.name != "seed" and (value := getattr(mechanism, field.name)) != getattr(usual, field.name)
    ]
    return f"{mechanism.name} ({', '.join(settings)})" if settings else mechanism.name
