import { randomUUID } from 'node:crypto';
import { cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { PAUSE_MS } from '../../../../nodes/DigitalSales/once/ledger';
import {
	ACTION,
	cartOf,
	chainOf,
	createPix,
	type NodeSketch,
	TRIGGER,
} from '../../../host/e2e/stage/workflows';
import { PACKAGE_NAME } from '../../../host/n8n/paths';
import type { Sandbox, SandboxOptions } from '../../../sandbox';
import { chargesAt } from '../../../support/charge';
import { type Bench, type BenchAccount, inTurn, post, type Side } from '../bench';
import { type GroupOutcome, type Outcome, sampleOf } from '../outcome';
import { DONE, splitOut } from '../workflows';

const COPY = `${PACKAGE_NAME}-without-ledger`;
/** How the built module says whether a node has a ledger. */
const ANSWER = /static of\(context\) \{/;

/**
 * Installs a second copy of the package beside the first, the same but for its ledger: there it says
 * that it has none, as it does in n8n's Agents. n8n has to be restarted to see it.
 */
async function installWithoutLedger(userFolder: string): Promise<void> {
	const modules = path.join(userFolder, '.n8n', 'nodes', 'node_modules');
	const copy = path.join(modules, COPY);
	await cp(path.join(modules, PACKAGE_NAME), copy, { recursive: true });
	const manifest = path.join(copy, 'package.json');
	const text = await readFile(manifest, 'utf8');
	await writeFile(manifest, text.replace(`"${PACKAGE_NAME}"`, `"${COPY}"`));
	const ledger = path.join(copy, 'dist', 'nodes', 'DigitalSales', 'once', 'ledger.js');
	const code = await readFile(ledger, 'utf8');
	if (!ANSWER.test(code)) throw new Error('The built ledger has another shape.');
	await writeFile(
		ledger,
		code.replace(ANSWER, (found) => `${found} return undefined;`),
	);
}

/** The type of a node of that copy. */
function withoutLedger(type: string): string {
	return type.replace(`${PACKAGE_NAME}.`, `${COPY}.`);
}

const ROUNDS = { warmUps: 10, counted: 60 };
/** Between two of them, so that what one leaves to be done does not slow the next. */
const APART_MS = 40;
const MOST_ENTRIES = 5_000;
const FILL_AT_ONCE = 500;
const BURSTS = [20, 150] as const;
const BURST_ROUNDS = { warmUps: 1, counted: 3 };
const BURST_APART_MS = 3_000;
/** A sender waits about so long for an answer. */
const PATIENCE_MS = 10_000;
const OPEN: SandboxOptions = {
	requestsPerMinute: null,
	qrImage: 'absent',
	resendAfterSeconds: [],
};

interface Receiver {
	url: string;
	status: string;
}

/** What the ledger adds to a charge and to the answer of a notice. */
export async function ledger(bench: Bench): Promise<GroupOutcome> {
	const sandbox = await bench.sandbox(OPEN);
	const account = await bench.account(sandbox);
	await installWithoutLedger(bench.n8n.userFolder);
	await bench.restartAll();
	const outcomes = [
		...(await charges(bench, account, sandbox)),
		...(await notices(bench, account, sandbox)),
	];
	return {
		outcomes,
		method: `The same package twice in one n8n: once as it is, once without its ledger, in turn. Charges run through a workflow that answers when it has ended; the rows about a difference are those of the pairs. A full ledger holds ${MOST_ENTRIES} entries. What n8n needs to store an execution is the answer to a notice that starts one, without the ledger, less the answer to one that the filters turn away.`,
	};
}

async function charges(bench: Bench, account: BenchAccount, sandbox: Sandbox): Promise<Outcome[]> {
	const charge = createPix({ cart: cartOf(sandbox), notify: 'none', qrCodeImage: false });
	const nodes = [splitOut('body.items'), charge];
	const ours = await bench.side(account, nodes);
	const peer = await bench.side(account, nodes.map(withoutIt));
	const fresh = await compare(ours, peer);
	const runs = MOST_ENTRIES / FILL_AT_ONCE;
	const batch = { items: Array.from({ length: FILL_AT_ONCE }, () => ({})) };
	for (let run = 0; run < runs; run++) await ours.run(batch);
	const full = await compare(ours, peer);
	return [
		...added('a charge', fresh, PAUSE_MS + 50),
		...added(`a charge of a node with ${MOST_ENTRIES} entries`, full, PAUSE_MS + 50),
	];
}

async function compare(ours: Side, peer: Side): Promise<[number[], number[]]> {
	const [first = [], second = []] = await inTurn([ours, peer], ROUNDS, async (side) => {
		await pause(APART_MS);
		return (await side.run({ items: [{}] })).ms;
	});
	return [first, second];
}

async function notices(bench: Bench, account: BenchAccount, sandbox: Sandbox): Promise<Outcome[]> {
	const receive = async (type: string, status: string): Promise<Receiver> => {
		const webhookId = randomUUID();
		const trigger = { name: 'Sale', type, webhookId, parameters: { triggerOn: ['paid'] } };
		await bench.publish(chainOf(webhookId, account.ours, [trigger, DONE]));
		return { url: `${bench.n8n.url}/webhook/${webhookId}/digital-sales`, status };
	};
	const ours = await receive(TRIGGER, 'paid');
	const peer = await receive(withoutLedger(TRIGGER), 'paid');
	const filtered = await receive(withoutLedger(TRIGGER), 'waiting_payment');
	const [first = [], second = [], third = []] = await inTurn(
		[ours, peer, filtered],
		ROUNDS,
		async (receiver) => (await send(sandbox, receiver, 1))[0]?.ms ?? NaN,
	);
	return [
		...added('the answer to a notice', [first, second], 15),
		{
			what: "n8n's own storing, in the answer to a notice",
			unit: 'ms',
			ours: differences(second, third),
		},
		...(await bursts(sandbox, [ours, peer])),
	];
}

async function bursts(sandbox: Sandbox, receivers: [Receiver, Receiver]): Promise<Outcome[]> {
	const outcomes: Outcome[] = [];
	for (const count of BURSTS) {
		const [ours = [], peer = []] = await inTurn(receivers, BURST_ROUNDS, async (receiver) => {
			const answers = await send(sandbox, receiver, count);
			await pause(BURST_APART_MS);
			return answers;
		});
		const last = (rounds: typeof ours) =>
			sampleOf(rounds.map((answers) => Math.max(...answers.map(({ ms }) => ms))));
		const taken = ours.map((round) => round.filter(({ status }) => status === 200).length);
		outcomes.push({
			what: `the last answer to ${count} notices at once`,
			unit: 'ms',
			ours: last(ours),
			peer: { name: 'without the ledger', figures: last(peer) },
			goal: { of: 'ours', bound: 'atMost', value: PATIENCE_MS, isOnlyShown: true },
			notes: [
				`${count} notices at once: ${taken.join(', ')} of them answered 200, the others 503 with Retry-After.`,
			],
		});
	}
	return outcomes;
}

/** Sends notices of new transactions at the same moment. */
async function send(
	sandbox: Sandbox,
	{ url, status }: Receiver,
	count: number,
): Promise<Array<{ ms: number; status: number }>> {
	const hashes = await chargesAt(sandbox, count);
	for (const hash of hashes) await sandbox.setStatus(hash, status);
	await pause(APART_MS);
	return await Promise.all(
		hashes.map(async (hash) => {
			const start = performance.now();
			const answer = await post(url, { hash, payment_status: status });
			return { ms: performance.now() - start, status: answer.status };
		}),
	);
}

function withoutIt(node: NodeSketch): NodeSketch {
	return node.type === ACTION ? { ...node, type: withoutLedger(node.type) } : node;
}

function added(what: string, [ours, peer]: [number[], number[]], most: number): Outcome[] {
	return [
		{
			what,
			unit: 'ms',
			ours: sampleOf(ours),
			peer: { name: 'without the ledger', figures: sampleOf(peer) },
		},
		{
			what: `what the ledger adds to ${what}`,
			unit: 'ms',
			ours: differences(ours, peer),
			goal: { of: 'ours', bound: 'atMost', value: most, isOnlyShown: true },
		},
	];
}

function differences(values: number[], others: number[]) {
	return sampleOf(values.map((value, round) => value - (others[round] ?? NaN)));
}
