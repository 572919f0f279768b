"""The structure of the package."""
