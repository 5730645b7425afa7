import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { parseBaseUrl } from '../../../nodes/DigitalSales/domain/webAddress';
import { messageOf, say } from '../../helpers/n8n/terminal';
import { contact } from './contact';

/** A platform that looks up the CPF needs a real customer. */
const CUSTOMER =
	'{"name":"Maria Exemplo","email":"maria@example.com","phone_number":"11900000000","document":"52998224725"}';

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			hash: { type: 'string', multiple: true, default: [] },
			charge: { type: 'boolean', default: false },
			offer: { type: 'string' },
		},
	});
	const { hash: hashes, charge, offer } = values;
	const { env } = process;
	const base = parseBaseUrl(env.DIGITAL_SALES_BASE_URL ?? '');
	const token = env.DIGITAL_SALES_TOKEN ?? '';
	if ('problem' in base || token === '') {
		throw new Error('Set DIGITAL_SALES_BASE_URL and DIGITAL_SALES_TOKEN.');
	}

	const secondToken = env.DIGITAL_SALES_SECOND_TOKEN ?? '';
	const customer = JSON.parse(env.DIGITAL_SALES_CUSTOMER ?? CUSTOMER) as object;
	const asked = { hashes, charge, offer, say, sleep: pause };
	await contact({ baseUrl: base.value, token, secondToken, customer, ...asked });
}

main().catch((error: unknown) => {
	say(messageOf(error));
	process.exitCode = 1;
});
