import { generateKeyPairSync, sign } from 'node:crypto';

/** A key and a certificate that is signed by itself. */
export function selfSigned(): { key: string; cert: string } {
	const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
	const ecdsaWithSha256 = seq(der(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
	const name = seq(
		der(0x31, seq(der(0x06, Buffer.from('550403', 'hex')), der(0x0c, Buffer.from('127.0.0.1')))),
	);
	const year = new Date().getUTCFullYear() % 100;
	const time = (y: number) => der(0x17, Buffer.from(`${String(y).padStart(2, '0')}0101000000Z`));
	const content = seq(
		der(0x02, Buffer.from([1])),
		ecdsaWithSha256,
		name,
		seq(time(year - 1), time(year + 2)),
		name,
		publicKey.export({ type: 'spki', format: 'der' }),
	);
	const signature = der(
		0x03,
		Buffer.concat([Buffer.from([0]), sign('sha256', content, privateKey)]),
	);
	const body = seq(content, ecdsaWithSha256, signature).toString('base64');
	return {
		key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
		cert: `-----BEGIN CERTIFICATE-----\n${body.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
	};
}

function seq(...parts: Buffer[]): Buffer {
	return der(0x30, Buffer.concat(parts));
}

/** One value in ASN.1's DER. */
function der(tag: number, content: Buffer): Buffer {
	const { length } = content;
	const size = length < 128 ? [length] : [0x82, length >> 8, length & 255];
	return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
