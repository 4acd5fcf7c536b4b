"""The public family of inputs for experiments on accuracy: shapes of 4,096 cells, from which counts are drawn."""

from sparsedp.experiments.inputs.registry import FAMILIES, INPUTS, Input, available_inputs
from sparsedp.experiments.inputs.shape import CELLS, SIDE, Shape, drawn_counts

__all__ = ["CELLS", "FAMILIES", "INPUTS", "SIDE", "Input", "Shape", "available_inputs", "drawn_counts"]
