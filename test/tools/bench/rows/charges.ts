import { cartOf, createPix } from '../../../helpers/e2e/workflows';
import { cpf } from '../../../helpers/charge';
import { mostAtOnce } from '../../../helpers/underWay';
import type { Bench } from '../bench';
import { type Outcome, sampleOf } from '../outcome';
import { splitOut } from '../workflows';

const CHARGES = 100;
const LATENCY_MS = 500;
const AT_ONCE = 4;
const ROUNDS = 3;
const FIRST_CPF = 200_000_000;

/**
 * Charges a list of customers at a slow service. Each customer is different, and the form has all values.
 */
export async function charges(bench: Bench): Promise<Outcome[]> {
	const sandbox = await bench.sandbox({
		latencyMs: LATENCY_MS,
		requestsPerMinute: null,
		qrImage: 'absent',
	});
	const charging = await bench.side(await bench.account(sandbox), [
		splitOut('body.documents', 'document'),
		createPix({
			cart: cartOf(sandbox),
			customerDocument: '={{ $json.document }}',
			webhooksGoTo: 'none',
			qrCodeImage: false,
		}),
	]);
	let next = FIRST_CPF;
	const runs: Array<Record<'ms' | 'requests' | 'atOnce', number>> = [];
	while (runs.length < ROUNDS) {
		sandbox.reset();
		const documents = Array.from({ length: CHARGES }, () => cpf(next++));
		const ms = await charging.run({ documents });
		if (sandbox.charges() !== CHARGES) throw new Error(`Not ${CHARGES} customers charged once.`);
		const posts = sandbox.requests.filter(({ method }) => method === 'POST');
		runs.push({ ms, requests: sandbox.requests.length, atOnce: mostAtOnce(posts) });
	}
	const what = `${CHARGES} charges at ${LATENCY_MS} ms`;
	return [
		{
			what,
			unit: 'ms',
			ours: sampleOf(runs.map(({ ms }) => ms)),
			// One at a time, the ratio would be at least 1.
			goal: { of: 'ours', bound: 'atMost', value: 0.3 * CHARGES * LATENCY_MS },
		},
		{
			what: `most requests at once, ${what}`,
			unit: 'requests',
			ours: sampleOf([Math.max(...runs.map(({ atOnce }) => atOnce))]),
			goal: { of: 'ours', bound: 'atMost', value: AT_ONCE },
		},
		{
			what: `requests for ${what}`,
			unit: 'requests',
			ours: sampleOf([Math.max(...runs.map(({ requests }) => requests))]),
			goal: { of: 'ours', bound: 'atMost', value: CHARGES },
		},
	];
}
