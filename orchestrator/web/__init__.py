"""HTTP infrastructure shared by the API and the console: authentication, limits, cookies, pagination, the request
log."""
