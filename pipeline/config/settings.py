"""All settings of a job, as one value that cannot change."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from pipeline.config.admin_block import AdminSettings
from pipeline.config.blocks import (
    DeadLetterSettings,
    InternalSettings,
    LimitSettings,
    OutputSettings,
    PipelineSettings,
    PublishSettings,
    RetrySettings,
    ScheduleSettings,
    SourceSettings,
    SparkSettings,
    WithdrawSettings,
)
from pipeline.config.kafka_block import KafkaSettings
from pipeline.config.layers import lower_sources, with_secrets
from pipeline.config.observe_blocks import (
    HealthSettings,
    LogSettings,
    MetricsSettings,
    TracesSettings,
)
from pipeline.config.topics import checked_topic
from state.settings import Block, StateSettings

PREFIX = "DUESTREAM_"
DELIMITER = "__"
DEFAULT_SOURCE = SourceSettings(topic="duestream.schedules")


class Settings(Block, BaseSettings):
    """The whole configuration; pipeline.config.load reads and checks it.

    Made in code it holds what it is given and the defaults, whatever the environment says.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter=DELIMITER,
        case_sensitive=True,  # the names of options in maps are somebody else's
    )

    name: Annotated[str, AfterValidator(checked_topic)] = Field(
        "duestream",
        description="names the job: its query, and its internal topic unless that is set",
    )
    kafka: KafkaSettings = KafkaSettings()
    sources: list[SourceSettings] = Field(
        [DEFAULT_SOURCE], min_length=1, description="the topics that schedules are read from"
    )
    withdraw: list[WithdrawSettings] = Field(
        default_factory=list, description="topics whose records withdraw what is pending"
    )
    outputs: OutputSettings = OutputSettings()
    dead_letter: DeadLetterSettings = DeadLetterSettings()
    internal: InternalSettings = InternalSettings()
    pipeline: PipelineSettings = PipelineSettings()
    publish: PublishSettings = PublishSettings()
    retry: RetrySettings = RetrySettings()
    schedules: ScheduleSettings = ScheduleSettings()
    limits: LimitSettings = LimitSettings()
    state: StateSettings = StateSettings()
    spark: SparkSettings = SparkSettings()
    metrics: MetricsSettings = MetricsSettings()
    health: HealthSettings = HealthSettings()
    traces: TracesSettings = TracesSettings()
    log: LogSettings = LogSettings()
    admin: AdminSettings = AdminSettings()

    @property
    def internal_topic(self) -> str:
        """The topic the job keeps for itself."""
        return self.internal.topic or f"duestream.{self.name}.internal"

    @property
    def markers_topic(self) -> str:
        """The topic that holds how far each lane has come."""
        return f"{self.internal_topic}.markers"

    @property
    def history_topics(self) -> frozenset[str]:
        """The topics that keep what was sent; sources may share one."""
        return frozenset(each.history_topic for each in self.sources if each.history_topic)

    @property
    def reserved_topics(self) -> frozenset[str]:
        """The topics the job itself reads or writes; no schedule may publish to one of them."""
        own = {self.internal_topic, self.markers_topic, self.dead_letter.topic}
        own |= set() if self.outputs.late_topic is None else {self.outputs.late_topic}
        own |= self.history_topics
        channels = self.admin.channels
        own |= set() if channels.port is None else {channels.log_topic, channels.jobs_topic}
        watched = {rule.topic for rule in self.withdraw}
        return frozenset(own | watched | {source.topic for source in self.sources})

    @model_validator(mode="before")
    @classmethod
    def _with_secrets(cls, merged: Any) -> Any:
        return with_secrets(merged)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Lay the flags over the environment, and that over the file."""
        return init_settings, *lower_sources(settings_cls)
