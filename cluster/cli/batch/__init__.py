"""Commands `assayer batch …`, which call a running service."""

from cluster.cli.commands import LazyCommand, create_lazy_app

app = create_lazy_app(
    "Submit many ideas to a service, follow them and fetch their reports.",
    (
        LazyCommand("batch submit", "Submit ideas to the service; prints the id of each evaluation or batch."),
        LazyCommand(
            "batch watch",
            "Follow progress until everything has finished; reconnects by itself. Exit code 1: some have no result.",
        ),
        LazyCommand(
            "batch fetch",
            "Save reports or results to files and print their paths; resumes. Exit code 1: there are none yet.",
        ),
        LazyCommand(
            "batch list", "List your batches and evaluations, the newest first, with state, cost and what went wrong."
        ),
        LazyCommand(
            "batch shortlist",
            "Rank the ideas of a finished batch, starting from its scores; prints the id of the ranking.",
        ),
        LazyCommand(
            "batch compare",
            "Show finished evaluations side by side; with --judge, say which of two is better and why.",
        ),
        LazyCommand(
            "batch usage",
            "Show jobs, LLM requests, tokens and cost in a period, and the remaining monthly budget.",
        ),
        LazyCommand("batch cancel", "Cancel evaluations and other jobs by id; finished jobs are unchanged."),
        LazyCommand("batch retry", "Retry failed and cancelled evaluations under the same id."),
        LazyCommand(
            "batch erase",
            "Delete everything stored about an idea or a batch, with its comparisons; rankings remain without it.",
        ),
        LazyCommand("batch timeline", "Draw the timeline of an evaluation: queue time, stages and LLM requests."),
        LazyCommand(
            "batch contestation",
            "Save the record for an applicant who contests: what was judged, masked and used, as PDF and JSON.",
        ),
    ),
)
