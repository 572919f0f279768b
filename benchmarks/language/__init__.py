"""Which texts are English, and which language others are in."""
