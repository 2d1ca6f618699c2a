"""An issuer of tokens on this machine: OpenID configuration, keys, and any token that a test wants.

It is also a provider for people: it gives everybody a code, and an id token for the code.
"""

import json
import threading
import time
from base64 import b64encode, urlsafe_b64encode
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, quote, urlencode, urlsplit

from joserfc import jws
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey

Key = RSAKey | ECKey | OKPKey

AUDIENCE = "pgbroker-test"
CLIENT = "pgbroker-pages"
SECRET = "secret of the client"


class Issuer:
    """Serves its configuration and its public keys; `fetched` counts the requests for the keys.

    person: the claims of the person who logs in. asked: the parameters of the request for a code, by the code.
    forget_codes: whether a code can be used only once. answer: status and body that the token endpoint sends instead.
    """

    def __init__(self) -> None:
        self.keys: dict[str, Key] = {"k1": ECKey.generate_key("P-256")}
        self.fetched = 0
        self.person: dict[str, Any] = {"sub": "alice"}
        self.asked: dict[str, dict[str, str]] = {}
        self.forget_codes = True
        self.answer: tuple[int, bytes] | None = None
        self.exchanges: list[dict[str, str]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path.startswith("/authorize?"):
                    self.send_response(302)
                    self.send_header("Location", outer.authorized(urlsplit(self.path).query))
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                self.reply(200, json.dumps(outer.document(self.path)).encode())

            def do_POST(self) -> None:
                sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
                fields = dict(parse_qsl(sent, strict_parsing=True))
                self.reply(*outer.exchanged(fields, self.headers.get("Authorization")))

            def reply(self, status: int, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def document(self, path: str) -> dict[str, Any]:
        """The answer of a path."""
        if path == "/.well-known/openid-configuration":
            return {
                "issuer": self.url, "jwks_uri": self.url + "/keys", "authorization_endpoint": self.url + "/authorize",
                "token_endpoint": self.url + "/token",
            }  # fmt: skip
        self.fetched += 1
        return {"keys": [{**key.as_dict(private=False), "kid": kid, "use": "sig"} for kid, key in self.keys.items()]}

    def authorized(self, query: str) -> str:
        """The address, with a code, to which a person who logs in is sent."""
        asked = {name: value for name, [value] in parse_qs(query, strict_parsing=True).items()}
        assert (asked["client_id"], asked["response_type"]) == (CLIENT, "code")
        assert asked["code_challenge_method"] == "S256"
        code = f"code {len(self.asked)}"
        self.asked[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state'], 'iss': self.url})}"

    def exchanged(self, fields: dict[str, str], authorization: str | None) -> tuple[int, bytes]:
        """The id token for a code."""
        self.exchanges.append(fields)
        if self.answer is not None:
            return self.answer
        asked = self.asked.get(fields["code"])
        if asked is None:
            return 400, b'{"error": "invalid_grant"}'
        if self.forget_codes:
            del self.asked[fields["code"]]
        challenge = urlsafe_b64encode(sha256(fields["code_verifier"].encode()).digest()).decode().rstrip("=")
        pair = b64encode(f"{CLIENT}:{quote(SECRET)}".encode()).decode()
        if authorization != f"Basic {pair}" or challenge != asked["code_challenge"]:
            return 400, b'{"error": "invalid_grant"}'
        if fields["redirect_uri"] != asked["redirect_uri"] or fields["grant_type"] != "authorization_code":
            return 400, b'{"error": "invalid_grant"}'
        person = {"aud": CLIENT, "nonce": asked["nonce"], **self.person}
        return 200, json.dumps(
            {"id_token": self.id_token(person), "access_token": "x", "token_type": "Bearer"}
        ).encode()

    def id_token(self, person: dict[str, Any]) -> str:
        """An id token with these claims."""
        return self.token(person.pop("sub"), **person)

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
