"""`sparsedp stream`: counts that arrive over time, published while they arrive, under one budget."""

from __future__ import annotations

from sparsedp.cli.command import add, group
from sparsedp.cli.stream.begin import INIT_EXAMPLES, begin_stream
from sparsedp.cli.stream.observe import OBSERVE_EXAMPLES, observe_counts
from sparsedp.cli.stream.publish import PUBLISH_EXAMPLES, publish_stream
from sparsedp.cli.stream.status import STATUS_EXAMPLES, show_status

app = group(
    "Counts that arrive tick by tick, published while they arrive, under one budget for the whole stream.",
    name="stream",
)
add(app, "init", begin_stream, INIT_EXAMPLES)
add(app, "observe", observe_counts, OBSERVE_EXAMPLES)
add(app, "publish", publish_stream, PUBLISH_EXAMPLES)
add(app, "status", show_status, STATUS_EXAMPLES)
