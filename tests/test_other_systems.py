"""Systems that lack what only POSIX has: the packages import there, judge there, and write their stores."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_architecture import modules

_WITHOUT_POSIX = """
import importlib, os, signal, sys
from pathlib import Path

ours = tuple(sys.argv[2].split(","))
modules = []
for module in sys.argv[3].split(","):  # what others wrote is imported here, and looks at the system as it is
    try:
        importlib.import_module(module)
    except ImportError:  # of a library that is not installed
        continue
    modules.append(module)
for name in [name for name in sys.modules if name.partition(".")[0] in ours]:
    del sys.modules[name]
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None
for name in ("fork", "geteuid", "getuid", "posix_fallocate", "register_at_fork", "sched_getaffinity", "sysconf", "uname"):
    delattr(os, name) if hasattr(os, name) else None
for name in ("SIGALRM", "SIGHUP", "SIGKILL", "SIGQUIT", "alarm"):
    delattr(signal, name) if hasattr(signal, name) else None

for module in modules:
    importlib.import_module(module)

from rag_cover import Evaluation, RetrievalStep, Trace, evaluate

step = RetrievalStep(query="sky", passages=["Rayleigh scattering makes the sky blue."])
trace = Trace(question="Why is the sky blue?", steps=[step], answer="Because of scattering.")
store = Path(sys.argv[1])
evaluate([trace], measures=["coverage"], store=store)
print(len(modules) > 300, Evaluation.open(store).results[0].coverage is not None)
"""


@pytest.mark.slow
def test_the_packages_work_where_only_what_every_system_has_is_there(tmp_path: Path) -> None:
    names = [name for name in modules() if not name.startswith(("rag_cover_ray", "rag_cover.testing"))]
    packages = {name.partition(".")[0] for name in names}
    command = [sys.executable, "-c", _WITHOUT_POSIX, str(tmp_path / "store.sqlite"), ",".join(packages), ",".join(names)]

    done = subprocess.run(command, check=False, capture_output=True, text=True)

    assert (done.returncode, done.stdout.split()) == (0, ["True", "True"]), done.stderr
