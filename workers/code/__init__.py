"""Repositories of code: search, and reading without running anything."""

from workers.code.checkout import Checkout, Commit, Entry
from workers.code.cloning import Cloner
from workers.code.github import ApiCheckout, GitHub
from workers.code.run_code import RunCode
from workers.code.settings import CodeSettings

__all__ = ["ApiCheckout", "Checkout", "Cloner", "CodeSettings", "Commit", "Entry", "GitHub", "RunCode"]
