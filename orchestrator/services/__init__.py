"""Functions shared by the API and the console. They receive the stores that they use as arguments. Apart from the
problems that they raise, they do not depend on HTTP."""
