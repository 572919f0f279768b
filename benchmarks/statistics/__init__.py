"""Are intervals as wide as they say?"""
