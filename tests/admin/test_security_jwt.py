"""Tokens of an identity provider: only those it has signed for us are taken, while they hold."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from tests.admin.house import ask, browser, house
from tests.admin.issuer import AUDIENCE, Issuer
from tests.admin.office import VIEWER
from tests.integration.running import wait_for


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with Issuer().serving() as issuer:
        yield issuer


@pytest.fixture
def url(issuer: Issuer, tmp_path: Path) -> Iterator[str]:
    with house(tmp_path, jwt__issuer=issuer.url, jwt__audience=AUDIENCE) as url:
        yield url


def answer(url: str, token: str) -> httpx.Response:
    with ask(url, token) as asking:
        return asking.get("/probe/api")


def part(said: dict[str, Any] | bytes) -> bytes:
    raw = said if isinstance(said, bytes) else json.dumps(said).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=")


def by_hand(header: dict[str, Any], claims: dict[str, Any], secret: bytes | None) -> str:
    """Make a token that the library would refuse to make."""
    body = part(header) + b"." + part(claims)
    signature = b"" if secret is None else hmac.digest(secret, body, hashlib.sha256)
    return (body + b"." + part(signature)).decode()


def test_a_token_by_rsa_and_one_by_a_curve_are_taken(url: str, issuer: Issuer) -> None:
    issuer.add("ec-1", ec.generate_private_key(ec.SECP256R1()))
    for kid in ("rsa-1", "ec-1"):
        assert answer(url, issuer.token(kid)).json() == {"name": "ada", "role": "operator"}
    assert issuer.asked == 1
    assert answer(url, VIEWER).json()["name"] == "vera"  # tokens of the settings are taken as well


def test_the_role_is_what_the_claim_says(url: str, issuer: Issuer) -> None:
    said: list[tuple[object, str | None]] = [
        (["duestream-viewer"], "viewer"),
        (["duestream-viewer", "duestream-operator"], "operator"),
        ("openid duestream-viewer", "viewer"),
        (["other"], None),
        ([], None),
        (None, None),
        ({"duestream-operator": True}, None),
        ([["duestream-operator"]], None),
    ]
    for roles, role in said:
        told = answer(url, issuer.token(roles=roles))
        if role is None:
            assert (told.status_code, told.json()["reason"]) == (403, "no_role"), roles
        else:
            assert told.json()["role"] == role, roles


def test_a_viewer_by_token_may_not_act(url: str, issuer: Issuer) -> None:
    with ask(url, issuer.token(roles=["duestream-viewer"])) as asking:
        assert asking.post("/probe/api").json()["reason"] == "not_allowed"
    with ask(url, issuer.token()) as asking:
        assert asking.post("/probe/api").status_code == 200


def test_claims_are_found_by_a_path_or_a_name_with_dots(issuer: Issuer, tmp_path: Path) -> None:
    flags = {"jwt__issuer": issuer.url, "jwt__audience": AUDIENCE, "jwt__viewer_roles": ["*"]}
    nested = {"jwt__role_claim": "realm_access.roles", "jwt__name_claim": "preferred_username"}
    with house(tmp_path / "a", **flags, **nested) as url:
        made = {"realm_access": {"roles": ["duestream-operator"]}, "preferred_username": "Ada"}
        assert answer(url, issuer.token(**made)).json() == {"name": "Ada", "role": "operator"}
        anybody = issuer.token(preferred_username="Bo", realm_access="none")
        assert answer(url, anybody).json() == {"name": "Bo", "role": "viewer"}
    with house(tmp_path / "b", **flags, jwt__role_claim="https://a.example/roles") as url:
        token = issuer.token(**{"https://a.example/roles": ["duestream-operator"]})
        assert answer(url, token).json()["role"] == "operator"


def test_what_was_not_made_for_us_now_is_refused(url: str, issuer: Issuer) -> None:
    now = int(time.time())
    wrong: dict[str, dict[str, Any]] = {
        "of another issuer": {"iss": "https://evil.example"},
        "of no issuer": {"iss": None},
        "for another application": {"aud": "other"},
        "for nobody": {"aud": None},
        "expired": {"exp": now - 60},
        "without an end": {"exp": None},
        "with an end that is none": {"exp": "never"},
        "not valid yet": {"nbf": now + 600},
        "of nobody": {"sub": None},
        "of an empty name": {"sub": " "},
        "of two lines": {"sub": "ada\nX: y"},
    }
    for what, claims in wrong.items():
        with ask(url, None) as asking:
            bearing = {"authorization": f"Bearer {_made(issuer, claims)}"}
            told = asking.get("/probe/api", headers=bearing)
        assert (told.status_code, told.json()["reason"]) == (401, "not_authenticated"), what
        assert "Bearer" in told.headers["www-authenticate"]


def _made(issuer: Issuer, claims: dict[str, Any]) -> str:
    header = {"alg": "RS256", "kid": "rsa-1"}
    body = part(header) + b"." + part(issuer.claims(**claims))
    signed = jwt.algorithms.RSAAlgorithm(jwt.algorithms.RSAAlgorithm.SHA256)
    return (body + b"." + part(signed.sign(body, issuer.keys["rsa-1"]))).decode()  # type: ignore[arg-type]


def test_a_clock_may_differ_a_little(url: str, issuer: Issuer) -> None:
    now = int(time.time())
    assert answer(url, issuer.token(exp=now - 10)).status_code == 200
    assert answer(url, issuer.token(nbf=now + 10)).status_code == 200


def test_what_the_issuer_has_not_signed_is_refused(url: str, issuer: Issuer) -> None:
    claims, kid = issuer.claims(), "rsa-1"
    other = rsa.generate_private_key(65_537, 2_048)
    head, body, signature = issuer.token().split(".")
    pem = issuer.public_pem(kid)
    forged = {
        "signed by nobody": by_hand({"alg": "none", "kid": kid}, claims, None),
        "signed by nobody at all": by_hand({"alg": "None"}, claims, None),
        "signed with the public key": by_hand({"alg": "HS256", "kid": kid}, claims, pem),
        "signed by another": jwt.encode(claims, other, "RS256", {"kid": kid}),
        "in a way not allowed": issuer.token(algorithm="RS512"),
        "with other claims": f"{head}.{part(issuer.claims(sub='root')).decode()}.{signature}",
        "without its signature": f"{head}.{body}.",
        "with a key of its own": jwt.encode(
            claims,
            other,
            "RS256",
            {"kid": kid, "jku": issuer.url, "jwk": {"kty": "RSA"}},
        ),
        "critical to others": jwt.encode(
            claims, issuer.keys[kid], "RS256", {"kid": kid, "crit": ["x"], "x": 1}
        ),
        "as text": "a.b.c",
        "as nothing": "..",
        "as a list": f"{part(b'[]').decode()}.{body}.{signature}",
        "too long": issuer.token(padding="x" * 20_000),
    }
    for what, token in forged.items():
        told = answer(url, token)
        assert (told.status_code, told.json()["reason"]) == (401, "not_authenticated"), what


def test_new_keys_of_the_issuer_are_found_and_old_ones_forgotten(url: str, issuer: Issuer) -> None:
    old = issuer.token()
    assert answer(url, old).status_code == 200
    del issuer.keys["rsa-1"]
    issuer.add("rsa-2", rsa.generate_private_key(65_537, 2_048))
    assert answer(url, issuer.token("rsa-2")).status_code == 200
    assert answer(url, old).status_code == 401
    assert issuer.asked <= 4


def test_names_of_keys_that_there_are_none_of_do_not_bother_the_issuer(
    url: str, issuer: Issuer
) -> None:
    known = issuer.token()
    assert answer(url, known).status_code == 200
    for n in range(15):
        token = jwt.encode(issuer.claims(), issuer.keys["rsa-1"], "RS256", {"kid": f"none {n}"})
        assert answer(url, token).status_code == 401
    assert issuer.asked <= 6
    assert answer(url, known).status_code == 200


def test_a_token_that_names_no_key_is_by_the_only_one(url: str, issuer: Issuer) -> None:
    token = jwt.encode(issuer.claims(), issuer.keys["rsa-1"], "RS256")
    assert answer(url, token).status_code == 200
    issuer.add("rsa-2", rsa.generate_private_key(65_537, 2_048))
    assert answer(url, issuer.token("rsa-2")).status_code == 200
    assert answer(url, token).status_code == 401


def test_an_issuer_that_is_away_is_told_and_asked_again(tmp_path: Path) -> None:
    issuer = Issuer()
    with issuer.serving():
        port = int(issuer.url.rpartition(":")[2])
        token = issuer.token()
    with house(tmp_path, jwt__issuer=issuer.url, jwt__audience=AUDIENCE) as url:
        told = answer(url, token)
        assert (told.status_code, told.json()["reason"]) == (503, "issuer_unavailable")
        assert told.headers["retry-after"]
        assert answer(url, VIEWER).status_code == 200
        with browser(url) as visiting:
            assert visiting.post("/login", data={"token": token}).status_code == 503
        with issuer.serving(port):
            assert answer(url, token).status_code == 200
        assert answer(url, token).status_code == 200  # by the keys that are known


def test_an_issuer_that_hangs_holds_up_nobody_else(url: str, issuer: Issuer) -> None:
    issuer.speaks = "error"
    assert answer(url, issuer.token()).status_code == 503
    issuer.speaks = "nothing"
    with ThreadPoolExecutor(1) as waiting:
        first = waiting.submit(answer, url, issuer.token())
        wait_for(lambda: issuer.hanging > 0, "the issuer to be asked")
        began = time.monotonic()
        assert answer(url, issuer.token()).status_code == 503  # at once, not after the first
        assert answer(url, VIEWER).status_code == 200
        assert not first.done() or time.monotonic() - began > 4
        issuer.let_go.set()
        assert first.result().status_code == 503


@pytest.mark.parametrize("speaks", ["garbage", "error"])
def test_an_issuer_that_answers_nonsense_is_told(url: str, issuer: Issuer, speaks: str) -> None:
    issuer.speaks = speaks
    told = answer(url, issuer.token())
    assert (told.status_code, told.json()["reason"]) == (503, "issuer_unavailable")


def test_a_discovery_document_of_another_issuer_is_not_followed(url: str, issuer: Issuer) -> None:
    issuer.named = "https://evil.example"
    assert answer(url, issuer.token()).json()["reason"] == "issuer_unavailable"


def test_keys_are_taken_from_where_the_settings_say(issuer: Issuer, tmp_path: Path) -> None:
    issuer.named = "https://evil.example"
    flags = {"jwt__issuer": issuer.url, "jwt__audience": AUDIENCE}
    with house(tmp_path, **flags, jwt__jwks_url=f"{issuer.url}/keys") as url:
        assert answer(url, issuer.token()).status_code == 200


def test_a_session_by_such_a_token_ends_with_it(issuer: Issuer, tmp_path: Path) -> None:
    flags = {"jwt__issuer": issuer.url, "jwt__audience": AUDIENCE}
    with house(tmp_path, **flags) as url, browser(url) as visiting:
        token = issuer.token(exp=int(time.time()) + 1_000)
        line = visiting.post("/login", data={"token": token}).headers["set-cookie"]
        [age] = [part for part in line.split("; ") if part.startswith("Max-Age=")]
        assert 0 < int(age.removeprefix("Max-Age=")) <= 1_000
        assert visiting.get("/probe/page").json()["name"] == "ada"
        # The leeway lets a token in that has just expired; it begins no session.
        late = issuer.token(exp=int(time.time()) - 1)
        assert "Max-Age=0" in visiting.post("/login", data={"token": late}).headers["set-cookie"]
        assert visiting.get("/probe/page").status_code == 303


def test_a_session_by_such_a_token_ends_when_the_settings_of_it_change(
    issuer: Issuer, tmp_path: Path
) -> None:
    flags = {"jwt__issuer": issuer.url, "jwt__audience": AUDIENCE}
    with house(tmp_path / "a", **flags) as url, browser(url, issuer.token()) as visiting:
        [value] = [each.value for each in visiting.cookies.jar]
    for place, changed, status in (("b", {}, 200), ("c", {"jwt__operator_roles": ["x"]}, 303)):
        with house(tmp_path / place, **flags, **changed) as url, browser(url) as visiting:
            port = httpx.URL(url).port
            cookie = {"cookie": f"duestream_session_{port}={value}"}
            assert visiting.get("/probe/page", headers=cookie).status_code == status
