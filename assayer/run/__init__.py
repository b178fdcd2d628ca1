"""One evaluation in progress: its context, budget and journal, and how its steps run side by side."""
