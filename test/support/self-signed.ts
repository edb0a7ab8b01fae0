import { generateKeyPairSync, sign } from 'node:crypto';

/** A fresh key and a certificate for `localhost` that nobody trusts, in PEM: none is kept in the repository. */
export function selfSigned(): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  // X.509 version 1 (RFC 5280, 4.1), signed with ecdsa-with-SHA256.
  const algorithm = der(0x30, Buffer.from('06082a8648ce3d040302', 'hex'));
  const commonName = der(0x30, Buffer.from('0603550403', 'hex'), der(0x0c, Buffer.from('localhost')));
  const name = der(0x30, der(0x31, commonName));
  const validity = der(
    0x30,
    der(0x17, Buffer.from('240101000000Z')),
    der(0x17, Buffer.from('490101000000Z')),
  );
  const publicInfo = publicKey.export({ type: 'spki', format: 'der' });
  const body = der(0x30, der(0x02, Buffer.of(1)), algorithm, name, validity, name, publicInfo);
  const signature = der(0x03, Buffer.of(0), sign('sha256', body, privateKey));
  const cert = der(0x30, body, algorithm, signature).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${cert}\n-----END CERTIFICATE-----\n`,
  };
}

/** One value of DER: tag, length, content. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), content]);
}
