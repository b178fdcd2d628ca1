"""Refusal of a document by the parser in the child process, or by the parent that killed the process."""


class Refused(Exception):
    """Raised for a document that is not read. `cause` is the reason in one word. `message` and `hint` are empty unless
    the parser itself provides them."""

    def __init__(self, cause: str, message: str = "", hint: str = "") -> None:
        super().__init__(cause, message, hint)
        self.cause, self.message, self.hint = cause, message, hint

    def __str__(self) -> str:
        return self.cause
