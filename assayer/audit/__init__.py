"""The counterfactual audit: the same idea from different people, and what that does to its scores."""
