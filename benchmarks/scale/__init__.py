"""Many traces: throughput, memory, import time."""
