"""How much text that nobody can see is found in PDFs and pages, and how much honest text is taken for it."""
