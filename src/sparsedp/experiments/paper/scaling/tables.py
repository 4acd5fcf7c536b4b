"""Table 1 with measurements in it, and what things cost."""

from __future__ import annotations

from sparsedp.experiments.paper.drawing import LOOKS
from sparsedp.experiments.paper.experiment import Numbers
from sparsedp.experiments.paper.outcomes import Outcomes
from sparsedp.experiments.paper.scaling.contenders import THRESHOLD
from sparsedp.experiments.paper.scaling.judging.reading import (
    BOUNDS,
    growth_of,
    hardest_over_cells,
    over_cells,
    over_epsilon,
    over_sparsity,
    sparsity_of,
    without_root,
)

NAMES = {
    **{name: look.label for name, look in LOOKS.items()},
    "compressive": "Compressive, CoSaMP (Hadamard rows)",
    "compressive bp": "Compressive, basis pursuit (Hadamard rows)",
    "compressive tree": "Compressive, our decoder (Hadamard rows)",
    THRESHOLD: "Laplace, then a threshold in Haar",
}


def tabulate(outcomes: Outcomes) -> list[Numbers]:
    """The laws in n, those in ε and S, and costs."""
    return [_in_cells(outcomes), _in_budget_and_sparsity(outcomes), _costs(outcomes)]


def _in_cells(outcomes: Outcomes) -> Numbers:
    rows = []
    for name, bound in BOUNDS.items():
        rows.append((NAMES[name], bound, *_law(outcomes, name, worst=False)))
        if name in outcomes.where(part="fading").values("mechanism"):
            rows.append((f"{NAMES[name]}, hardest signal", bound, *_law(outcomes, name, worst=True)))
    n = over_cells(outcomes, "laplace").x
    return Numbers(
        f"Table 1 as measured: powers of n and of log₂(n/S) that fit best from n = {n[0]:,.0f} to {n[-1]:,.0f}, with "
        f"95 % intervals, S = {sparsity_of(outcomes)}, ε = 1 (hardest signal: ε·error, at the size of the details that "
        "is worst for the mechanism). *off by*: how far the means are from each of the three laws. *p*: of "
        "√n·(log n)^p, the logarithms that Õ hides. The laws are of geometric means, which hide rare runs that are far "
        "off: beside the mean at the largest n stand its largest run, and how many times its mean a run was at most, "
        "over all n. The paper has i.i.d. signs where Compressive has Hadamard rows here.",
        (
            "mechanism",
            "the paper's bound",
            "power of n",
            "power of log(n/S)",
            "a + b·log₂ n",
            "off by, in turn",
            "p",
            "error at the largest n",
            "largest run there",
            "largest run over its mean",
        ),
        tuple(rows),
    )


def _law(outcomes: Outcomes, name: str, *, worst: bool) -> tuple[str, ...]:
    growth = growth_of(outcomes, name, worst=worst)
    series = hardest_over_cells(outcomes, name) if worst else over_cells(outcomes, name)
    hidden = str(without_root(outcomes, name).power) if name in ("hierarchical", "privelet", "laplace") else "–"
    return (
        str(growth.in_n),
        str(growth.in_log),
        f"{growth.intercept:,.0f} + {growth.per_doubling:,.1f}·log₂ n",
        ", ".join(f"{misfit:.0%}" for misfit in growth.misfits.values()),
        hidden,
        f"{series.centre[-1]:,.1f}",
        f"{max(series.errors[-1]):,.1f}",
        f"{series.largest_over_centre:.2f}",
    )


def _in_budget_and_sparsity(outcomes: Outcomes) -> Numbers:
    rows = []
    for name in BOUNDS:
        safe = over_epsilon(outcomes, name, safe=True)
        slopes = (str(safe.power), str(over_sparsity(outcomes, name).power))
        every = over_epsilon(outcomes, name)
        rows.append((NAMES[name], *slopes, f"{every.centre[0]:,.0f}", f"{every.centre[-1]:,.0f}"))
    epsilon = over_epsilon(outcomes, "laplace", safe=True).x
    budgets = over_epsilon(outcomes, "laplace").x
    return Numbers(
        f"The power of ε, from ε = {max(epsilon):g} to {min(epsilon):g}, where every detail stands out, and the power "
        f"of S at ε = 1; n = {outcomes.where(part='epsilon').values('cells')[0]:,}. Beside them the errors at the "
        "ends of the whole range.",
        ("mechanism", "power of ε", "power of S", f"error at ε = {min(budgets):g}", f"error at ε = {max(budgets):g}"),
        tuple(rows),
    )


def _costs(outcomes: Outcomes) -> Numbers:
    rows = tuple(
        (
            one.settings["sensing"],
            one.settings["decoder"],
            f"{one.settings['cells']:,}",
            f"{one.found['rows']:,}",
            f"{one.found['products']:,}",
            f"{one.found['additions']:.2e}",
            f"{one.found['vectors']:,}",
        )
        for one in outcomes.where(part="work")
    )
    return Numbers(
        "What one recovery costs, counted: products with Φ or Φᵀ, additions in them, and the peak of memory in vectors "
        "of n numbers.",
        ("sensing", "decoder", "n", "k", "products", "additions", "vectors"),
        rows,
    )
