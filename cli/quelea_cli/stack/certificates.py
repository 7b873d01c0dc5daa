"""A CA of one stack's own, and certificates of it: for `quelea up --tls` and for tests.

The CA's key stays in this process and is gone with it: whoever finds the folder can be one of the services, and cannot
make another one.
"""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_DAYS = 3650.0
_LATE_CLOCK = datetime.timedelta(hours=1)


class Authority:
    """A CA.

    Args:
        name: What it is called in its certificate.
    """

    def __init__(self, name: str = "Quelea on this machine") -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name_of(name)
        now = datetime.datetime.now(datetime.UTC)
        self._certificate = (
            x509.CertificateBuilder(self._name, self._name, self._key.public_key(), x509.random_serial_number())
            .not_valid_before(now - _LATE_CLOCK)
            .not_valid_after(now + datetime.timedelta(days=_DAYS + 1))
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        self.pem = self._certificate.public_bytes(serialization.Encoding.PEM)

    def issue(self, folder: Path, *names: str, days: float = _DAYS) -> Path:
        """Write tls.crt, tls.key and ca.crt for these DNS names, localhost and 127.0.0.1; returns the folder.

        Args:
            folder: Made if it is not there; readable by its owner only.
            names: DNS names; the first is the certificate's own.
            days: How long it is valid; less than nothing: it has expired.
        """
        key = ec.generate_private_key(ec.SECP256R1())
        end = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=days)
        hosts: list[x509.GeneralName] = [x509.DNSName(name) for name in (*names, "localhost")]
        hosts.append(x509.IPAddress(ipaddress.ip_address("127.0.0.1")))
        certificate = (
            x509.CertificateBuilder(self._name, _name_of(names[0]), key.public_key(), x509.random_serial_number())
            .not_valid_before(min(end, datetime.datetime.now(datetime.UTC)) - _LATE_CLOCK)
            .not_valid_after(end)
            .add_extension(x509.SubjectAlternativeName(hosts), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(
                x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]),
                critical=False,
            )
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for file, content in (
            ("tls.key", private),
            ("tls.crt", certificate.public_bytes(serialization.Encoding.PEM)),
            ("ca.crt", self.pem),
        ):
            new = folder / f".{file}.new"
            new.touch(mode=0o600)
            new.write_bytes(content)
            new.replace(folder / file)
        return folder


def _name_of(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
