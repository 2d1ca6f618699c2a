"""An issuer of tokens on this machine: OpenID configuration, keys, and whatever token a test wants."""

import json
import threading
import time
from base64 import urlsafe_b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from joserfc import jws
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey

Key = RSAKey | ECKey | OKPKey

AUDIENCE = "pgbroker-test"


class Issuer:
    """Serves its configuration and its public keys; `fetched` counts how often the keys were asked for."""

    def __init__(self) -> None:
        self.keys: dict[str, Key] = {"k1": ECKey.generate_key("P-256")}
        self.fetched = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = json.dumps(outer.document(self.path)).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def document(self, path: str) -> dict[str, Any]:
        """What stands at a path."""
        if path == "/.well-known/openid-configuration":
            return {"issuer": self.url, "jwks_uri": self.url + "/keys"}
        self.fetched += 1
        return {"keys": [{**key.as_dict(private=False), "kid": kid, "use": "sig"} for kid, key in self.keys.items()]}

    def claims(self, subject: str = "pilot-1", **more: Any) -> dict[str, Any]:
        """Claims of a token that is valid; a claim that is None is left out."""
        now = int(time.time())
        claims = {"iss": self.url, "sub": subject, "aud": AUDIENCE, "iat": now, "exp": now + 600, **more}
        return {name: value for name, value in claims.items() if value is not None}

    def token(self, subject: str = "pilot-1", kid: str = "k1", algorithm: str = "ES256", **more: Any) -> str:
        """A token signed with one of the keys."""
        return signed(self.claims(subject, **more), self.keys[kid], algorithm, kid)

    def close(self) -> None:
        """Stop."""
        self._server.shutdown()
        self._server.server_close()


def signed(claims: dict[str, Any] | str, key: Key | OctKey, algorithm: str, kid: str | None) -> str:
    """A token of any claims, signed with any key."""
    header = {"alg": algorithm, **({"kid": kid} if kid else {})}
    registry = jws.JWSRegistry(algorithms=[algorithm])
    registry.max_payload_length = 10**6
    return jws.serialize_compact(
        header, claims if isinstance(claims, str) else json.dumps(claims), key, [algorithm], registry
    )


def unsigned(claims: dict[str, Any]) -> str:
    """A token with the algorithm none."""
    parts = (urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in ({"alg": "none"}, claims))
    return ".".join(parts) + "."
