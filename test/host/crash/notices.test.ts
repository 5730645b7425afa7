import { startN8n, type N8n } from '../n8n/n8n';
import { chargesAt } from '../../support/charge';
import { Figures } from '../../support/figures';
import { Chance, tally } from './stage/orders';
import { NoticeDrill } from './stage/noticeDrill';

const figures = new Figures('Crashes while notices come in', 'npm run e2e -- crash');
const START_MS = 15 * 60_000;
const NOTICES = 300;
const KILLS = 10;

describe('paid notices while n8n is killed and started again', () => {
	const chance = Chance.ofThisRun();
	let n8n: N8n;
	let drill: NoticeDrill;
	let hashes: string[];
	let emissions: Map<string, number>;

	beforeAll(async () => {
		n8n = await startN8n('crash-notices');
		hashes = await chargesAt(n8n.sandbox, NOTICES);
		for (const hash of hashes) await n8n.sandbox.setStatus(hash, 'paid');
		drill = new NoticeDrill(n8n, chance, new Set(hashes));
		await drill.publish();
		for (let wave = 0; wave < KILLS; wave++) {
			const size = NOTICES / KILLS;
			await drill.wave(hashes.slice(wave * size, (wave + 1) * size));
		}
		await drill.retryCrashed();
		emissions = await drill.emissions();
		enter();
	}, START_MS);
	afterAll(async () => {
		await n8n?.close();
		figures.show();
	});

	const timesOf = (hash: string): number => emissions.get(hash) ?? 0;
	const enter = (): void => {
		const { kills, sent, lost, retries, stuck } = drill;
		figures.add(
			`paid transactions, each with a notice, while n8n is killed (seed ${chance.seed})`,
			NOTICES,
			tally(hashes.map((hash) => `started the workflow ${timesOf(hash)} ×`)),
		);
		figures.add('`kill -9` and start', kills, `${lost.size} notices answered 200 were lost by it`);
		figures.add('notices sent, repeated ones included', sent, 'until each was answered with 200');
		figures.add('Retry pressed on crashed executions', retries.length, tally(retries));
		figures.add('executions that n8n left as running', stuck.size, 'retried like the others');
	};

	test('what was answered with 200 is in an execution after the crash', () => {
		expect([...drill.lost]).toEqual([]);
	});

	test('no transaction starts the workflow twice', () => {
		expect(hashes.filter((hash) => timesOf(hash) > 1)).toEqual([]);
	});

	test('every transaction starts the workflow, by its notice or by Retry', () => {
		expect(hashes.filter((hash) => timesOf(hash) === 0)).toEqual([]);
	});

	test('every Retry ends well', () => {
		expect(drill.retries.filter((outcome) => !outcome.startsWith('success'))).toEqual([]);
	});
});
