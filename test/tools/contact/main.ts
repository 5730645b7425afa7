import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { parseBaseUrl } from '../../../nodes/DigitalSales/domain/webAddress';
import { say } from '../../helpers/n8n/terminal';
import { contact } from './contact';

/** A service that looks up the CPF needs a real customer. */
const CUSTOMER =
	'{"name":"Maria Exemplo","email":"maria@example.com","phone_number":"11900000000","document":"52998224725"}';

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			hash: { type: 'string', multiple: true, default: [] },
			charge: { type: 'boolean', default: false },
			offer: { type: 'string' },
			listen: { type: 'string' },
		},
	});
	const {
		DIGITAL_SALES_BASE_URL = '',
		DIGITAL_SALES_TOKEN: token = '',
		DIGITAL_SALES_SECOND_TOKEN: secondToken = '',
		DIGITAL_SALES_CUSTOMER = CUSTOMER,
	} = process.env;
	const base = parseBaseUrl(DIGITAL_SALES_BASE_URL);
	if ('problem' in base || token === '') {
		throw new Error('Set DIGITAL_SALES_BASE_URL and DIGITAL_SALES_TOKEN.');
	}

	await contact({
		baseUrl: base.value,
		token,
		secondToken,
		customer: JSON.parse(DIGITAL_SALES_CUSTOMER) as object,
		hashes: values.hash,
		charge: values.charge,
		offer: values.offer,
		listenAt: values.listen === undefined ? undefined : Number(values.listen),
		say,
		sleep: async (ms) => await pause(ms),
	});
}

main().catch((error: unknown) => {
	say(error instanceof Error ? error.message : 'This failed.');
	process.exitCode = 1;
});
