import { parseArgs } from 'node:util';
import { parseBaseUrl } from '../../../nodes/DigitalSales/domain/webAddress';
import { messageOf, say } from '../../helpers/n8n/terminal';
import { contact, CUSTOMER } from './contact';

/** Half of the documented limit of 20 requests a minute. */
const APART_MS = 6_000;

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			hash: { type: 'string', multiple: true, default: [] },
			charge: { type: 'boolean', default: false },
		},
	});
	const { hash: hashes, charge } = values;
	const { env } = process;
	const base = parseBaseUrl(env.DIGITAL_SALES_BASE_URL ?? '');
	const token = env.DIGITAL_SALES_TOKEN ?? '';
	if ('problem' in base || token === '') {
		throw new Error('Set DIGITAL_SALES_BASE_URL and DIGITAL_SALES_TOKEN.');
	}

	const secondToken = env.DIGITAL_SALES_SECOND_TOKEN ?? '';
	const given = env.DIGITAL_SALES_CUSTOMER ?? JSON.stringify(CUSTOMER);
	const customer = JSON.parse(given) as object;
	const asked = { hashes, charge, say, apartMs: APART_MS };
	await contact({ baseUrl: base.value, token, secondToken, customer, ...asked });
}

main().catch((error: unknown) => {
	say(messageOf(error));
	process.exitCode = 1;
});
