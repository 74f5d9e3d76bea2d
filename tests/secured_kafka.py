"""A broker with doors of TLS: one asks for a password, one for a certificate; and with ACLs.

Whoever comes through the first door, without TLS, is ANONYMOUS, and may do everything: that is how
tests set it up and look at it. What is tested comes through the others.
"""

import subprocess
from collections.abc import Mapping
from pathlib import Path

import trustme
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from pipeline.broker_files import free_port
from pipeline.local_kafka import LocalKafka
from pipeline.quiet import quiet

PASSWORD = "open sesame"  # noqa: S105
_TIMEOUT = 30.0


class SecuredKafka(LocalKafka):
    """One node that lets users in by SASL_SSL or SSL and asks its ACLs what each may do."""

    def __init__(self) -> None:
        super().__init__()
        self._secure_port, self._certified_port = free_port(), free_port()
        self.ca_file = self.data / "ca.pem"
        self._keystore = self.data / "broker.pem"
        self._authority = trustme.CA()
        self._authority.cert_pem.write_to_path(self.ca_file)
        write_identity(self._authority.issue_cert("127.0.0.1"), self._keystore)

    @property
    def secure_servers(self) -> str:
        """The address of the door that asks for a password."""
        return f"127.0.0.1:{self._secure_port}"

    @property
    def certified_servers(self) -> str:
        """The address of the door that asks for a certificate."""
        return f"127.0.0.1:{self._certified_port}"

    def add_user(self, name: str, password: str = PASSWORD) -> None:
        """Let a user in, who may do nothing yet."""
        how = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
        wish = UserScramCredentialUpsertion(name, how, password.encode())
        admin = self.admin()
        admin.alter_user_scram_credentials([wish])[name].result(_TIMEOUT)

    def certify(self, name: str, file: Path) -> None:
        """Write a certificate for a user, who may do nothing yet, and its key under PASSWORD."""
        write_identity(self._authority.issue_cert(f"{name}.client", common_name=name), file)
        lock(file, "-v1", "PBE-SHA1-3DES")

    def grant(self, acls: list[AclBinding]) -> None:
        """Allow something."""
        admin = self.admin()
        for answer in admin.create_acls(acls).values():
            answer.result(_TIMEOUT)

    def revoke(self, principal: str, topic: str) -> None:
        """Take back whatever a user may do with a topic."""
        every = AclBindingFilter(
            ResourceType.TOPIC,
            topic,
            ResourcePatternType.LITERAL,
            principal,
            None,
            AclOperation.ANY,
            AclPermissionType.ANY,
        )
        admin = self.admin()
        for answer in admin.delete_acls([every]).values():
            answer.result(_TIMEOUT)

    def admin(self) -> AdminClient:
        """Return a client that may do everything; without it nobody waits for its answers."""
        return AdminClient(quiet({"bootstrap.servers": self.bootstrap_servers}))

    def _settings_on(self, port: int, controller: int) -> Mapping[str, str]:
        doors = (
            f"PLAINTEXT://127.0.0.1:{port},SASL_SSL://{self.secure_servers},"
            f"SSL://{self.certified_servers}"
        )
        return {
            "listeners": f"{doors},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": doors,
            "listener.security.protocol.map": (
                "PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL,SSL:SSL,CONTROLLER:PLAINTEXT"
            ),
            "sasl.enabled.mechanisms": "SCRAM-SHA-512",
            "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config": (
                "org.apache.kafka.common.security.scram.ScramLoginModule required;"
            ),
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(self._keystore),
            "listener.name.ssl.ssl.client.auth": "required",
            "listener.name.ssl.ssl.truststore.type": "PEM",
            "listener.name.ssl.ssl.truststore.location": str(self.ca_file),
            "ssl.principal.mapping.rules": "RULE:^.*CN=([^,]+).*$/$1/",
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "allow.everyone.if.no.acl.found": "false",
            "super.users": "User:ANONYMOUS",
        }


def write_identity(issued: trustme.LeafCert, file: Path) -> None:
    """Write a key and its certificate, the key in PKCS#8: Java reads no other."""
    key = load_pem_private_key(issued.private_key_pem.bytes(), None)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file.write_bytes(pem + b"".join(blob.bytes() for blob in issued.cert_chain_pems))


def lock(file: Path, *how: str) -> None:
    """Put the key in a file under PASSWORD, with the program that the documentation names."""
    command = ["openssl", "pkcs8", "-topk8", *how, "-in", str(file), "-passout", f"pass:{PASSWORD}"]
    locked = subprocess.run(command, capture_output=True, check=True).stdout
    _, end, certificates = file.read_bytes().rpartition(b"PRIVATE KEY-----\n")
    assert end
    file.write_bytes(locked + certificates)
