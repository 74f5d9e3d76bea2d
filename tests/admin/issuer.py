"""A little identity provider on loopback: a discovery document, keys that change, tokens."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

AUDIENCE = "duestream-console"
Private = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


class Issuer:
    """Signs tokens, and answers for its keys; ``asked`` counts how often they were asked for."""

    def __init__(self) -> None:
        self.keys: dict[str, Private] = {}
        self.asked = 0
        self.speaks = "keys"  # or: garbage, error, nothing
        self.hanging, self.let_go = 0, threading.Event()
        self.url = ""
        self.named = ""  # the issuer that its discovery document names, if not its address
        self.add("rsa-1", rsa.generate_private_key(65_537, 2_048))

    def add(self, kid: str, key: Private) -> None:
        self.keys[kid] = key

    def claims(self, **other: Any) -> dict[str, Any]:
        now = int(time.time())
        usual = {"iss": self.url, "aud": AUDIENCE, "sub": "ada", "iat": now, "exp": now + 300}
        claims = usual | {"roles": ["duestream-operator"]} | other
        return {name: value for name, value in claims.items() if value is not None}

    def token(self, kid: str = "rsa-1", algorithm: str | None = None, **other: Any) -> str:
        key = self.keys[kid]
        usual = "RS256" if isinstance(key, rsa.RSAPrivateKey) else "ES256"
        return jwt.encode(self.claims(**other), key, algorithm or usual, {"kid": kid})

    def public_pem(self, kid: str) -> bytes:
        public = self.keys[kid].public_key()
        return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    def document(self, path: str) -> dict[str, Any]:
        if path == "/.well-known/openid-configuration":
            return {"issuer": self.named or self.url, "jwks_uri": f"{self.url}/keys"}
        self.asked += 1
        return {"keys": [_public(kid, key) for kid, key in self.keys.items()]}

    @contextmanager
    def serving(self, port: int = 0) -> Iterator["Issuer"]:
        server = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        self.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


def _public(kid: str, key: Private) -> dict[str, Any]:
    if isinstance(key, rsa.RSAPrivateKey):
        return RSAAlgorithm.to_jwk(key.public_key(), as_dict=True) | {"kid": kid, "use": "sig"}
    return ECAlgorithm.to_jwk(key.public_key(), as_dict=True) | {"kid": kid, "use": "sig"}


def _handler(issuer: Issuer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if issuer.speaks == "nothing":
                issuer.hanging += 1
                issuer.let_go.wait(60)
                return
            said = (
                b"<html>"
                if issuer.speaks == "garbage"
                else json.dumps(issuer.document(self.path)).encode()
            )
            self.send_response(500 if issuer.speaks == "error" else 200)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler
