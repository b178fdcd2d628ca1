"""Refusal of a document, by the parser in the child process or by the parent that runs it."""


class Refused(Exception):
    """Raised if a document cannot be read. `cause` is a keyword for the reason, such as `damaged`. `message` and `hint`
    are empty unless the parser provides them."""

    def __init__(self, cause: str, message: str = "", hint: str = "") -> None:
        super().__init__(cause, message, hint)
        self.cause, self.message, self.hint = cause, message, hint

    def __str__(self) -> str:
        return self.cause


class ParserCrash(Refused):
    """Raised if the parser failed on a document, with an unexpected exception, a signal, or invalid output. `detail`
    contains more for developers, possibly including text from the document."""

    def __init__(self, detail: str) -> None:
        super().__init__("broken_parser")
        self.detail = detail
