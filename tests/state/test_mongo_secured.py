"""A MongoDB with passwords and TLS: who has both is let in, all others are told what to look at."""

import pytest
import trustme
from build import names, put, tick

from state.errors import StateError
from state.open import make_state, open_inspector, open_source, open_store
from state.settings import MongoSettings, StateSettings
from tests.secured_mongo import DATABASE, PASSWORD, SecuredMongo

OPENINGS = (open_store, open_inspector, make_state, open_source)


@pytest.fixture(scope="module")
def server():
    with SecuredMongo() as served:
        yield served


@pytest.fixture
def settings(server):
    def with_login(**more):
        login = {
            "uri": server.uri,
            "database": DATABASE,
            "username": "job",
            "password": PASSWORD,
            "auth_source": "admin",
            "tls": True,
            "tls_ca_file": str(server.ca_file),
            "tls_certificate_key_file": str(server.client_file),
            "timeout": "2s",
        }
        mongo = MongoSettings.model_validate(login | more)
        return StateSettings(kind="mongo", mongo=mongo)

    return with_login


def test_who_has_password_and_certificate_writes_and_reads(settings):
    store = open_store(settings())
    try:
        claimed = store.commit(tick(0, commands=[put(b"a", 1, due=5)], until=10))
    finally:
        store.close()
    assert names(claimed) == [(b"a", 1)]
    reader = open_inspector(settings(username="reader"))
    assert names(reader.versions(b"a")) == [(b"a", 1)]


def test_who_may_only_read_cannot_open_the_state_for_writing(settings):
    make_state(settings())
    with pytest.raises(StateError, match=r"refuses access \(not authorized .*rights of the user"):
        open_store(settings(username="reader"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"password": "wrong"},
        {"username": "nobody"},
        {"auth_source": "other"},
        {"username": None, "password": None, "auth_source": None},
    ],
    ids=["password", "user", "database of users", "none"],
)
def test_a_login_that_fails_is_told_by_its_settings(settings, wrong):
    sentence = r"refuses access .*check state\.mongo\.username, password and auth_source"
    for open_it in OPENINGS:
        with pytest.raises(StateError, match=sentence):
            open_it(settings(**wrong))


def test_a_server_of_an_authority_that_is_not_trusted_is_told(settings, tmp_path):
    trustme.CA().cert_pem.write_to_path(tmp_path / "other.pem")
    sentence = r"certificate verify failed.*check state\.mongo\.tls, tls_ca_file and tls_cert"
    with pytest.raises(StateError, match=sentence):
        open_store(settings(tls_ca_file=str(tmp_path / "other.pem")))


@pytest.mark.parametrize("whose", ["none", "a stranger's"])
def test_without_a_certificate_of_the_authority_nobody_gets_in(settings, tmp_path, whose):
    file = tmp_path / "stranger.pem"
    trustme.CA().issue_cert("stranger.test").private_key_and_cert_chain_pem.write_to_path(file)
    given = None if whose == "none" else str(file)
    with pytest.raises(StateError, match=r"tls_certificate_key_file, then start again"):
        open_store(settings(tls_certificate_key_file=given))


def test_plain_text_is_not_answered(settings):
    files = {"tls": None, "tls_ca_file": None, "tls_certificate_key_file": None}
    with pytest.raises(StateError, match=r"cannot be used .*check state\.mongo\.uri"):
        open_store(settings(**files))


def test_a_file_that_cannot_be_used_is_told_by_its_setting(settings, server):
    for name in ("tls_ca_file", "tls_certificate_key_file"):
        with pytest.raises(StateError, match=rf"state\.mongo\.{name} cannot be used: .*nowhere"):
            open_store(settings(**{name: "nowhere.pem"}))
    without_key = str(server.ca_file)
    with pytest.raises(StateError, match=r"state\.mongo\.tls_certificate_key_file cannot be used"):
        open_store(settings(tls_certificate_key_file=without_key))
