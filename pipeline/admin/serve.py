"""Serves the web application until it is told to stop."""

import logging
import socket

from pipeline.admin.app import application
from pipeline.admin.listening import listen_on
from pipeline.admin.others import others
from pipeline.admin.servable import require_servable, warnings
from pipeline.admin.server import server_config
from pipeline.admin.together import First, beside
from pipeline.config.admin_block import AdminSettings
from pipeline.config.settings import Settings

log = logging.getLogger(__name__)


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or Ctrl-C."""
    require_servable(settings)
    for warning in warnings(settings.admin):
        log.warning(warning)
    listening = listen(settings.admin)
    host, port = listening.getsockname()[:2]
    log.info("serving on http://%s:%d%s/", host, port, settings.admin.base_path)
    first = First(server_config(application(settings)))
    with beside(others(settings)) as first.end_others:
        first.run(sockets=[listening])


def listen(admin: AdminSettings) -> socket.socket:
    """Open the port; SetupError if it cannot be had."""
    return listen_on(admin.host, admin.port, "admin.port")
