"""The command ``health``: asks the job of the settings how it is, for containers without curl."""

import json
import sys
from http.client import HTTPConnection, HTTPException
from typing import Annotated

import typer

from pipeline.cli.options import ConfigOption, SetOption, settings_of
from state.errors import ConfigError

_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104


def health(
    ready: Annotated[
        bool, typer.Option("--ready", help="Ask whether it takes schedules and publishes, too.")
    ] = False,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds to wait for the answer.")] = 10.0,
    config: ConfigOption = None,
    assign: SetOption = None,
) -> None:
    """Ask a running job on this machine how it is: exit code 0 if well, 1 if not."""
    metrics = settings_of(config, assign).metrics
    if not metrics.port:
        raise ConfigError(
            "metrics.port: is not set, so the job answers nobody; set it, as a rule to 9464"
        )
    host = _EVERYWHERE.get(metrics.host, metrics.host)
    well, why = _ask(host, metrics.port, "/readyz" if ready else "/healthz", timeout)
    typer.echo(why)
    sys.exit(0 if well else 1)


def _ask(host: str, port: int, path: str, timeout: float) -> tuple[bool, str]:
    connection = HTTPConnection(host, port, timeout=timeout)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        said = json.loads(answer.read())
        return said["status"] == "ok" and answer.status == 200, str(said["reason"])
    except (OSError, HTTPException) as error:
        return False, f"no job answers on http://{host}:{port}{path} ({error})"
    except (ValueError, LookupError, TypeError):
        return False, f"what answers on http://{host}:{port}{path} is no job of duestream"
    finally:
        connection.close()
