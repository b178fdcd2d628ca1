"""What plans do not state: the checklist beside a reader who did not know what it would say."""
