"""How well the support check tells claims that their quotes bear out from others, on four public sets."""
