"""One small file a mechanism: its sensing, its recovery, its guarantee; and the registry of them all."""

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
