"""What an interrupted run has paid for and left beside the ledger: published at no cost."""

from __future__ import annotations

from dataclasses import replace

from sparsedp.errors import BadFile
from sparsedp.privacy.ledger import Ledger, Spend
from sparsedp.publishing.delivery import Delivery
from sparsedp.publishing.order import Order
from sparsedp.releases.release import Release
from sparsedp.synopsis import open_synopsis


def stored_for(order: Order, delivery: Delivery, ledger: Ledger | None) -> Spend | None:
    """The spend whose stored measurement this order would take up; None if it would have to pay."""
    spend = None if ledger is None else ledger.unfinished(order.request(delivery.name))
    return None if spend is None or spend.synopsis_path is None else spend


def recovered(ledger: Ledger, spend: Spend) -> Release:
    """The release of a spend, from its stored measurement, with the ledger's line for it."""
    if spend.synopsis_path is None:
        raise BadFile(f"Spend {spend.number} has no stored measurement.")
    return replace(open_synopsis(spend.synopsis_path).recover(), record=ledger.record(spend))
