"""A broker with a second door: TLS by a certificate authority of its own, SCRAM, and ACLs.

Whoever comes through the first door, without TLS, is ANONYMOUS, and may do everything: that is how
tests set it up and look at it. What is tested comes through the second.
"""

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
    """One node that lets users in by SASL_SSL and asks its ACLs what each may do."""

    def __init__(self) -> None:
        super().__init__()
        self._secure_port = free_port()
        self.ca_file = self.data / "ca.pem"
        self._keystore = self.data / "broker.pem"
        authority = trustme.CA()
        authority.cert_pem.write_to_path(self.ca_file)
        _write_keystore(authority, self._keystore)

    @property
    def secure_servers(self) -> str:
        """The address of the second door."""
        return f"127.0.0.1:{self._secure_port}"

    def add_user(self, name: str, password: str = PASSWORD) -> None:
        """Let a user in, who may do nothing yet."""
        how = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
        wish = UserScramCredentialUpsertion(name, how, password.encode())
        admin = self.admin()
        admin.alter_user_scram_credentials([wish])[name].result(_TIMEOUT)

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
        doors = f"PLAINTEXT://127.0.0.1:{port},SASL_SSL://{self.secure_servers}"
        return {
            "listeners": f"{doors},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": doors,
            "listener.security.protocol.map": (
                "PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL,CONTROLLER:PLAINTEXT"
            ),
            "sasl.enabled.mechanisms": "SCRAM-SHA-512",
            "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config": (
                "org.apache.kafka.common.security.scram.ScramLoginModule required;"
            ),
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(self._keystore),
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "allow.everyone.if.no.acl.found": "false",
            "super.users": "User:ANONYMOUS",
        }


def _write_keystore(authority: trustme.CA, path: Path) -> None:
    """Write key and certificate of the broker, the key in PKCS#8: Java reads no other."""
    issued = authority.issue_cert("127.0.0.1")
    key = load_pem_private_key(issued.private_key_pem.bytes(), None)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.write_bytes(pem + b"".join(blob.bytes() for blob in issued.cert_chain_pems))
