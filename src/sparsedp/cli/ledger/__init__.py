"""`sparsedp ledger`: how much may be spent on whom, and how much was."""

from __future__ import annotations

from sparsedp.cli.command import add, group
from sparsedp.cli.ledger.begin import INIT_EXAMPLES, begin_ledger
from sparsedp.cli.ledger.check import CHECK_EXAMPLES, check_file
from sparsedp.cli.ledger.recover import RECOVER_EXAMPLES, recover_release
from sparsedp.cli.ledger.show import SHOW_EXAMPLES, show_ledger

app = group("How much may be spent on each data set, and what was.", name="ledger")
add(app, "init", begin_ledger, INIT_EXAMPLES)
add(app, "show", show_ledger, SHOW_EXAMPLES)
add(app, "check", check_file, CHECK_EXAMPLES)
add(app, "recover", recover_release, RECOVER_EXAMPLES)
