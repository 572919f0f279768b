"""The embedded judge: its verdicts, its calibration, its speed."""
