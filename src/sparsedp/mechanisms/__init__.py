"""One small file a mechanism: its sensing, its recovery, its guarantee; and the registry of them all."""

from sparsedp.mechanisms.adaptive import Adaptive
from sparsedp.mechanisms.base import Mechanism
from sparsedp.mechanisms.compressive import Compressive
from sparsedp.mechanisms.hierarchical import Hierarchical
from sparsedp.mechanisms.laplace import Laplace
from sparsedp.mechanisms.privelet import Privelet

MECHANISMS: dict[str, type[Mechanism]] = {
    mechanism.name: mechanism for mechanism in (Adaptive, Laplace, Hierarchical, Privelet, Compressive)
}
"""Every mechanism by the name `sdp.release(…, mechanism=name)` takes."""

__all__ = ["MECHANISMS", "Adaptive", "Compressive", "Hierarchical", "Laplace", "Mechanism", "Privelet"]
