"""The page served on this machine, and to this machine alone, until somebody stops it."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Callable

from rag_cover.errors import InvalidValueError, needs_extra
from rag_cover.labelling.access import Access, ASGIApp

__all__ = ["bind", "serve"]


def bind(port: int) -> socket.socket:
    """Open a port of 127.0.0.1; port 0 is any that is free.

    Raises:
        InvalidValueError: another program has the port, or it may not be used.
    """
    opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind(("127.0.0.1", port))
    except OSError as taken:
        opened.close()
        message = f"port {port} cannot be used ({taken.strerror or taken}); name another with --port, or leave it out"
        raise InvalidValueError(message) from taken
    opened.listen()
    return opened


def serve(make: Callable[[Access], ASGIApp], port: socket.socket, *, told: Callable[[str], None], browser: bool) -> None:
    """Serve the page until the process is told to end.

    Args:
        make: makes the application for those who may use it.
        port: where it is served.
        told: is given the address that opens the page.
        browser: whether to open it.

    Raises:
        MissingExtraError: no server is installed.
    """
    with needs_extra("label", "uvicorn"):
        import uvicorn
    access = Access(port.getsockname()[1])
    config = uvicorn.Config(
        make(access),
        access_log=False,
        http="h11",
        lifespan="off",
        log_config=None,
        loop="asyncio",
        server_header=False,
        timeout_graceful_shutdown=2,
        ws="none",
    )
    told(access.address)
    if browser:
        threading.Thread(target=webbrowser.open, args=(access.address,), daemon=True).start()
    uvicorn.Server(config).run(sockets=[port])
