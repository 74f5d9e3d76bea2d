"""A MongoDB that asks for a password and speaks TLS, by a certificate authority of its own."""

import contextlib
from pathlib import Path
from typing import Any

import trustme
from pymongo import MongoClient
from pymongo.errors import PyMongoError

from pipeline.local_mongo import LocalMongo

USERS = {"job": "readWrite", "reader": "read"}
PASSWORD = "open sesame"  # noqa: S105
DATABASE = "secured"


class SecuredMongo(LocalMongo):
    """One server with users of one database; it also wants to see a certificate of its clients.

    It is started twice: users are made while it lets everybody in.
    """

    def __init__(self) -> None:
        super().__init__(engine="secantus")
        self.ca_file = self.data / "ca.pem"
        self.client_file = self.data / "client.pem"
        self._server_file = self.data / "server.pem"
        self._doors: list[str] = []
        authority = trustme.CA()
        authority.cert_pem.write_to_path(self.ca_file)
        for file, name in ((self._server_file, "127.0.0.1"), (self.client_file, "client.test")):
            authority.issue_cert(name).private_key_and_cert_chain_pem.write_to_path(file)

    def _start_somewhere(self) -> None:
        super()._start_somewhere()
        if self._doors:
            return
        self._make_users()
        self.stop()
        both = str(self._server_file)
        tls = ["--tls-cert-file", both, "--tls-key-file", both, "--tls-ca-file", str(self.ca_file)]
        self._doors = ["--auth", *tls, "--tls-require-client-cert"]
        super()._start_somewhere()

    def _make_users(self) -> None:
        client: MongoClient[dict[str, Any]]
        with MongoClient(self.uri) as client:
            for name, role in USERS.items():
                roles = [{"role": role, "db": DATABASE}]
                client.admin.command("createUser", name, pwd=PASSWORD, roles=roles)

    def _command(self, folder: Path, port: int) -> list[str]:
        return [*super()._command(folder, port), *self._doors]

    def _answers(self) -> bool:
        if not self._doors:
            return super()._answers()
        client: MongoClient[dict[str, Any]]
        files = {"tlsCAFile": str(self.ca_file), "tlsCertificateKeyFile": str(self.client_file)}
        who = {"username": "job", "password": PASSWORD}
        with MongoClient(
            self.uri, tls=True, serverSelectionTimeoutMS=500, **files, **who
        ) as client:
            with contextlib.suppress(PyMongoError):
                return bool(client.admin.command("ping")["ok"])
            return False
