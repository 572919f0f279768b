"""ONNX Runtime with its telemetry off: from version 1.29 it sends events to its vendor, and leaves files in the home folder.

Both switches are needed. The environment variable is read when the library is loaded; nothing is made or sent then. The call
stops a library that the host has loaded before.
"""

from __future__ import annotations

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

import onnxruntime

onnxruntime.disable_telemetry_events()

__all__ = ["onnxruntime"]
