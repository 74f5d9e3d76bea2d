"""The block of the configuration that says how the web process serves people and programs."""

from ipaddress import ip_network
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr, StringConstraints

from pipeline.config.channels_block import ChannelSettings
from pipeline.config.observe_blocks import Url
from state.clock import SECOND
from state.duration import Duration
from state.settings import Block

Name = Annotated[str, StringConstraints(pattern=r"^\S(.{0,98}\S)?$")]
RoleName = Literal["viewer", "operator"]


def _checked_network(text: str) -> str:
    try:
        ip_network(text)
    except ValueError:
        raise ValueError("is no address or network; give one such as 10.0.0.0/8") from None
    return text


class TokenSettings(Block):
    """One bearer token: who has it and what it allows; the token itself is not written down."""

    name: Name = Field(description="who has it; stands beside what is done with it")
    role: RoleName = Field("viewer", description="viewer: looks; operator: acts, too")
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] = Field(
        description="the token's SHA-256 in hex; `duestream token` makes both"
    )


class JwtSettings(Block):
    """Tokens of an identity provider (OpenID Connect): how they are checked, and who may what."""

    issuer: Url | None = Field(
        None, description="who must have issued a token; null: no such tokens are taken"
    )
    audience: str | None = Field(None, description="whom a token must be meant for")
    jwks_url: Url | None = Field(
        None, description="where the issuer's keys are; null: as its discovery document says"
    )
    algorithms: list[Literal["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"]] = (
        Field(["RS256", "ES256"], min_length=1, description="how a token may be signed")
    )
    name_claim: str = Field("sub", description="the claim that names who has it")
    role_claim: str = Field(
        "roles", description="the claim that lists roles; a.b is b within the claim a"
    )
    operator_roles: list[str] = Field(
        ["duestream-operator"], description="one of these makes an operator"
    )
    viewer_roles: list[str] = Field(
        ["duestream-viewer"], description="one of these makes a viewer; *: any valid token"
    )
    leeway: Duration = Field(
        30 * SECOND, ge=0, description="by how much the issuer's clock may differ from ours"
    )


class AdminSettings(Block):
    """The HTTP API and the web console: ``duestream serve``."""

    host: str = Field(
        "127.0.0.1", description="the address to listen on; a public one needs tokens or jwt"
    )
    port: int = Field(8700, ge=0, le=65535, description="the port to listen on; 0: any")
    base_path: Annotated[str, StringConstraints(pattern=r"^(/[A-Za-z0-9._~-]+)*$")] = Field(
        "", description="what a proxy puts before every path, such as /duestream"
    )
    hosts: list[str] = Field(
        default_factory=list,
        description="names under which it is asked for; empty: any, on loopback only its own",
    )
    trusted_proxies: list[Annotated[str, AfterValidator(_checked_network)]] = Field(
        default_factory=list,
        description="addresses or networks whose X-Forwarded-For and -Proto are believed",
    )
    read_only: bool = Field(False, description="whether nobody may act, whatever their role")
    hide_payload: bool = Field(
        False, description="whether payloads and values of headers are shown to nobody"
    )
    tokens: list[TokenSettings] = Field(
        default_factory=list, description="bearer tokens, each with a name and a role"
    )
    jwt: JwtSettings = JwtSettings()
    session_key: SecretStr | None = Field(
        None, description="signs the console's sessions; null: a new one at each start"
    )
    session_age: Duration = Field(
        12 * 3600 * SECOND, ge=60 * SECOND, description="how long a session of the console lasts"
    )
    rate_limit: float = Field(
        50.0, gt=0, description="requests a second that one client may send, over some seconds"
    )
    max_body_bytes: int = Field(
        2_000_000, ge=1_000, description="the largest body of a request that is read"
    )
    etf1_port: int | None = Field(
        None,
        ge=0,
        le=65535,
        description="a port of its own for what the GUI of etf1's scheduler reads; null: none",
    )
    etf1_open: bool = Field(
        False, description="whether that port asks nobody who they are: its GUI sends no token"
    )
    channels: ChannelSettings = ChannelSettings()

    @property
    def asks_who(self) -> bool:
        """Whether anybody must say who they are."""
        return bool(self.tokens) or self.jwt.issuer is not None
