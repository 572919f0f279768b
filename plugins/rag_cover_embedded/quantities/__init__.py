"""Amounts, shares, dates and times in answers, so that "an hour and a half" can be compared with "90 minutes"."""
