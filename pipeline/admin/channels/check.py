"""Says whether channels can be served with the settings that are there."""

from pipeline.config.settings import Settings
from pipeline.planning.admission import Admission
from state.errors import ConfigError


def require_channels(settings: Settings) -> None:
    """Raise ConfigError unless the job would take what channels send it."""
    channels = settings.admin.channels
    if all(source.dialect != "cloudevents" for source in settings.sources):
        raise ConfigError(
            "admin.channels.port: none of sources[] has the dialect cloudevents, by which events "
            "are scheduled; add one, or leave the port out"
        )
    if not Admission.by(settings).takes(channels.topic):
        raise ConfigError(
            f"admin.channels.topic: {channels.topic} is not on outputs.allow; add it there, for "
            "the job too"
        )
    if not settings.schedules.endless_repeats:
        raise ConfigError(
            "admin.channels.port: jobs of channels repeat without an end; set "
            "schedules.endless_repeats to true, for the job too, or leave the port out"
        )
