"""Says which applications are served beside the first one, as the settings ask for."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack

from pipeline.admin.channels.app import channels_application
from pipeline.admin.channels.check import require_channels
from pipeline.admin.channels.service import Channels
from pipeline.admin.desk import Desk
from pipeline.admin.etf1 import etf1_application
from pipeline.admin.guard.beside import guarded_beside
from pipeline.admin.listening import listen_on
from pipeline.admin.together import Beside
from pipeline.config.settings import Settings


def others(settings: Settings) -> list[Beside]:
    """Open what is asked for; if a part of it cannot be had, nothing stays open."""
    with ExitStack() as opened:
        made = [*_made(settings, opened)]
        opened.pop_all()  # whoever serves them closes them
    return made


def _made(settings: Settings, opened: ExitStack) -> Iterator[Beside]:
    admin = settings.admin
    if admin.etf1_port is not None:
        port = _port(admin.host, admin.etf1_port, "admin.etf1_port", opened)
        yield _etf1(settings, port, opened)
    if admin.channels.port is not None:
        require_channels(settings)
        port = _port(admin.host, admin.channels.port, "admin.channels.port", opened)
        yield _channels(settings, port)


def _etf1(settings: Settings, listening: socket.socket, opened: ExitStack) -> Beside:
    desk = Desk.of(settings)
    opened.callback(desk.close)
    app = etf1_application(desk, listening.getsockname()[1])
    behind = guarded_beside(app, is_open=settings.admin.etf1_open)
    return Beside("what etf1's GUI reads", behind, listening, desk.close)


def _channels(settings: Settings, listening: socket.socket) -> Beside:
    desk = Desk.of(settings)
    channels = Channels(desk)
    app = channels_application(desk, channels)
    behind = guarded_beside(app, is_open=settings.admin.channels.open)
    return Beside("channels", behind, listening, channels.close)


def _port(host: str, port: int, setting: str, opened: ExitStack) -> socket.socket:
    return opened.enter_context(listen_on(host, port, setting))
