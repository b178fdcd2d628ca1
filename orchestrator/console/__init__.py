"""The console: server-rendered pages for people. What they see and can do depends on their role."""
