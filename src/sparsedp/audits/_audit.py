"""`sparsedp.audit`: which cases there are to look at, and how they are carried out side by side."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from typing import Any

from sparsedp import validate
from sparsedp.audits._cases import RECORDS_OF_A_PERSON, AnyCase, every_case, named_cases
from sparsedp.audits._findings import Audit, Finding
from sparsedp.audits._looks import AUDITED_BOUND, LookedCase
from sparsedp.audits._mechanisms import Case, audit_mechanism
from sparsedp.audits._records import RecordsCase, audit_records
from sparsedp.audits._streams import audit_stream
from sparsedp.axes.domain import Declared, Domain
from sparsedp.errors import InvalidInput
from sparsedp.mechanisms import MECHANISMS, Mechanism, mechanism_named
from sparsedp.privacy.budget import Budget, asked_for
from sparsedp.privacy.neighbours import Neighbours
from sparsedp.progress import stage
from sparsedp.publishing.order import Order

REPLAYS, RUNS = 1500, 20_000
REPLAYS_OF_A_LOOK = 500
MOST_CELLS = 2**16
"""Of a domain that is audited: every replay and every run measures all of it."""

Told = Callable[[int, int], None]
"""Is told how many cases are done, and of how many."""


def audit(
    mechanism: str | Mechanism | None = None,
    *,
    epsilon: validate.Number | Budget | None = None,
    rho: validate.Number | None = None,
    delta: validate.Number | None = None,
    domain: Declared | int | None = None,
    contribution: int = 1,
    neighbours: str = "add_remove",
    replays: int = REPLAYS,
    runs: int = RUNS,
    jobs: int | None = None,
    told: Told | None = None,
) -> Audit:
    """Hold a mechanism against what it promises: replays on neighbours, exact losses, its noise, and an attack.

    >>> import sparsedp as sdp
    >>> print(sdp.audit("laplace", epsilon=1, domain=16, replays=50, runs=0).verdict)
    All 3 checks held.

    `mechanism`: its name or itself; the name of a stream, such as "continual_counter"; "records" for the way from
    records to counts; or None for everything there is, under ε, ρ and (ε, δ).
    `epsilon`, `rho`, `delta`, `domain`, `contribution`, `neighbours`: as for a release; the domain may be a number of
    cells. No data are needed: the counts are made up.
    `replays`: how many lists of noisy answers are replayed on a neighbour. `runs`: how many releases an attack sees, 0
    for no attack. `jobs`: how many processes work on it, as many as there are cores if nothing is said.

    Why these checks, and what they cannot show: `audits/audit.md`.
    """
    replays = validate.whole("replays", replays, most=10**7)
    runs = validate.whole("runs", runs, least=0, most=10**8)
    if 0 < runs < 100:
        raise InvalidInput("runs", f"{runs}", "give 100 at least, or 0 for no attack")
    if mechanism is None:
        for name, given in (("epsilon", epsilon), ("rho", rho), ("delta", delta), ("domain", domain)):
            if given is not None:
                raise InvalidInput(name, "given without a mechanism", "say which, or leave it out to audit everything")
        return Audit(_carried_out(every_case(replays, runs), jobs, told))
    asked = asked_for(1 if epsilon is None and rho is None else epsilon, rho, delta)
    if isinstance(mechanism, str) and mechanism.partition(":")[0] not in MECHANISMS:
        if asked.rho_spent is not None or asked.epsilon is None:
            raise InvalidInput("rho" if rho is not None else "delta", "given for a stream", "give epsilon alone")
        return Audit(_carried_out(named_cases(mechanism, runs, asked.epsilon), jobs, told))
    chosen = mechanism_named(mechanism) if isinstance(mechanism, str) else mechanism
    if not isinstance(chosen, Mechanism):
        raise InvalidInput("mechanism", f"of type {type(chosen).__name__}", 'give one, or its name: "adaptive"')
    return Audit(_carried_out([_case(chosen, asked, domain, contribution, neighbours, replays, runs)], jobs, told))


def audit_order(
    order: Order, *, replays: int = REPLAYS, runs: int = RUNS, jobs: int | None = None, told: Told | None = None
) -> Audit:
    """Of what is going to be published from records: how they are counted, and how that is measured.

    The records themselves are not read: they are made up, in the cells that were declared.
    """
    asked, terms = order.with_bound(AUDITED_BOUND) if order.request.chosen else order, order.terms
    request, relation = asked.request.asked_of(None), terms.neighbours.relation
    cases: list[AnyCase] = [RecordsCase(request)]
    if order.request.chosen:
        few = min(replays, REPLAYS_OF_A_LOOK)
        cases.append(LookedCase(order.mechanism, terms.budget, RECORDS_OF_A_PERSON, 1, relation, few, runs=0))
    cases.append(_case(order.mechanism, terms.budget, request.domain, request.contribution, relation, replays, runs))
    return Audit(_carried_out(cases, jobs, told))


def _case(
    mechanism: Mechanism,
    budget: Budget,
    domain: Declared | int | None,
    contribution: int,
    neighbours: str,
    replays: int,
    runs: int,
) -> Case:
    cells: int | Domain
    if domain is None or isinstance(domain, int):
        cells = size = 256 if domain is None else validate.whole("domain", domain)
    else:
        cells = Domain.of(domain)
        size = cells.size
    if size > MOST_CELLS:
        given = f"of {size:,} cells, each of which is measured thousands of times"
        raise InvalidInput("domain", given, f"audit a smaller one of the same kind, of at most {MOST_CELLS:,}")
    if Neighbours(contribution, neighbours).relation != "add_remove" and size == 1:
        given = "of one cell, in which nothing changes when a person is replaced"
        raise InvalidInput("domain", given, 'audit it with neighbours="add_remove", or one of two cells')
    found = Case(mechanism, budget, cells, contribution, neighbours, replays, runs)
    # What is refused at all is refused here, in this process, before any other is started.
    mechanism.checked(size, _terms(found), None if isinstance(cells, int) else cells)
    return found


def _terms(case: Case) -> Any:
    from sparsedp.mechanisms.terms import checked_terms

    return checked_terms(case.budget, None, None, case.contribution, case.neighbours, None, "sparsedp", None)


def _carried_out(cases: Sequence[AnyCase], jobs: int | None, told: Told | None) -> tuple[Finding, ...]:
    """All cases, in their order."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    workers = min(cores if jobs is None else validate.whole("jobs", jobs, most=1024), len(cases))
    found: list[Finding] = []
    with stage(f"auditing {len(cases)} cases"), ExitStack() as stack:
        results: Iterable[list[Finding]]
        if workers == 1:
            results = map(findings_of, cases)
        else:
            # Processes of their own, not copies of this one: what threads of this one hold would be lost in a copy.
            pool = stack.enter_context(multiprocessing.get_context("spawn").Pool(workers))
            results = pool.imap(findings_of, cases)
        for number, findings in enumerate(results, 1):
            found += findings
            if told is not None:
                told(number, len(cases))
    return tuple(found)


def findings_of(case: AnyCase) -> list[Finding]:
    """Of one case."""
    if isinstance(case, Case):
        return audit_mechanism(case)
    return audit_records(case) if isinstance(case, RecordsCase) else audit_stream(case)
