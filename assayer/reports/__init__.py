"""What a person or a program reads: a report as JSON, Markdown or one self-contained HTML file.

Nothing is exported here: who reads one kind does not load the templates of another.
"""
