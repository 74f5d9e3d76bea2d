"""Refuses to serve with settings that would let in somebody who is not meant."""

from collections import Counter
from collections.abc import Iterator

from pipeline.admin.fetching import is_safe
from pipeline.config.admin_block import AdminSettings, JwtSettings
from pipeline.config.loopback import is_loopback
from pipeline.config.problems import Problem, refusal
from pipeline.config.settings import Settings

_SHORTEST_KEY = 32


def require_servable(settings: Settings) -> None:
    """Raise ConfigError unless it is safe, and of use, to serve with these settings."""
    found = [
        *_open_to_all(settings.admin),
        *_tokens(settings.admin),
        *_session_key(settings.admin),
        *_jwt(settings.admin.jwt),
        *_state(settings),
    ]
    if found:
        raise refusal(found)


def warnings(admin: AdminSettings) -> Iterator[str]:
    """Yield what is allowed and still worth a thought."""
    if not is_loopback(admin.host) and not admin.trusted_proxies:
        yield (
            f"admin.host: {admin.host} is served without TLS, so tokens can be read on the way; "
            "put a proxy with TLS in front, and name it in admin.trusted_proxies"
        )
    if not is_loopback(admin.host) and not admin.hosts:
        yield "admin.hosts: is empty, so any name is answered to; name those it is asked for by"
    if admin.hosts and not admin.asks_who and not all(map(_is_own, admin.hosts)):
        yield (
            "admin.hosts: names more than this machine, as for a proxy, and nobody is asked who "
            "they are: whoever the proxy lets through may act; set admin.tokens or admin.jwt.issuer"
        )


def _open_to_all(admin: AdminSettings) -> Iterator[Problem]:
    if not is_loopback(admin.host) and not admin.asks_who:
        yield Problem(
            "admin.host",
            f"{admin.host} can be reached from other machines, and nobody would be asked who they "
            "are; set admin.tokens (duestream token makes one) or admin.jwt.issuer, or listen on "
            "127.0.0.1",
        )


def _is_own(host: str) -> bool:
    return is_loopback(host.rpartition(":")[0] if host.count(":") == 1 else host)


def _tokens(admin: AdminSettings) -> Iterator[Problem]:
    for digest, times in Counter(token.sha256 for token in admin.tokens).items():
        if times > 1:
            names = " and ".join(token.name for token in admin.tokens if token.sha256 == digest)
            yield Problem(
                "admin.tokens",
                f"{names} have the same token, so they cannot be told apart; make one for each by "
                "duestream token",
            )


def _session_key(admin: AdminSettings) -> Iterator[Problem]:
    key = admin.session_key
    if key is not None and len(key.get_secret_value()) < _SHORTEST_KEY:
        yield Problem(
            "admin.session_key",
            f"has fewer than {_SHORTEST_KEY} characters, so it could be guessed; make one by "
            "openssl rand -base64 32",
        )


def _jwt(jwt: JwtSettings) -> Iterator[Problem]:
    if jwt.issuer is None:
        if jwt.audience is not None or jwt.jwks_url is not None:
            yield Problem("admin.jwt.issuer", "is not set, so no JWT would be taken; name it")
        return
    if jwt.audience is None:
        yield Problem(
            "admin.jwt.audience",
            "is not set, so tokens that the issuer made for other applications would be taken; "
            "name the one that stands for this server",
        )
    for name, url in (("issuer", jwt.issuer), ("jwks_url", jwt.jwks_url)):
        if url is not None and not is_safe(url):
            yield Problem(
                f"admin.jwt.{name}",
                f"{url} is not https, so somebody on the way could give out keys of their own",
            )


def _state(settings: Settings) -> Iterator[Problem]:
    if settings.state.kind == "memory":
        yield Problem(
            "state.kind",
            "is memory, which only the job itself can look into; set it to delta or mongo",
        )
