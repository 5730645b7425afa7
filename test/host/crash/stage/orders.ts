import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { cpf } from '../../../support/charge';
import type { Sandbox } from '../../../sandbox';
import {
	cartOf,
	chainOf,
	createPix,
	type NodeSketch,
	split,
	webStart,
} from '../../e2e/stage/workflows';
import type { Execution } from '../../n8n/execution';
import type { SavedCredential, WorkflowFile } from '../../n8n/rest';

const FIRST_CUSTOMER = 100_200_300;

/** The published workflows that charge: with an Order Reference or without, item by item or in a loop. */
export const PATHS = ['referenced', 'plain', 'referenced-loop', 'plain-loop'] as const;

const orderSchema = z.object({
	document: z.string(),
	reference: z.string().optional(),
	path: z.enum(PATHS),
});
const askedSchema = z.object({ body: z.object({ orders: z.array(orderSchema) }) });

const SPLIT = split('Split', 'orders');
const LOOP: NodeSketch = {
	name: 'Loop',
	type: 'n8n-nodes-base.splitInBatches',
	typeVersion: 3,
	parameters: { batchSize: 1, options: {} },
};

/** What a customer has ordered; each order has a customer of its own, known by the document. */
export type Order = z.infer<typeof orderSchema>;

/** So many orders, every other one with a reference, the same number for each path. */
export function makeOrders(count: number): Order[] {
	return Array.from({ length: Math.ceil(count / PATHS.length) }, (_, row) =>
		PATHS.map((path, column) => {
			const nth = row * PATHS.length + column;
			const reference = path.startsWith('referenced') ? { reference: `order-${nth}` } : {};
			return { document: documentOf(nth), path, ...reference };
		}),
	)
		.flat()
		.slice(0, count);
}

/** A CPF with the right check digits. */
function documentOf(nth: number): string {
	return cpf(FIRST_CUSTOMER + nth * 1_234_567).replace(/\D/g, '');
}

/** Charges each of the orders posted to it, and is busy for a moment afterwards. */
export function chargeWorkflow(
	path: (typeof PATHS)[number],
	credential: SavedCredential,
	sandbox: Sandbox,
): WorkflowFile {
	const isReferenced = path.startsWith('referenced');
	const charge = createPix({
		notify: 'none',
		cart: cartOf(sandbox),
		customerDocument: '={{ $json.document }}',
		orderReference: isReferenced ? '={{ $json.reference }}' : '',
	});
	if (!path.endsWith('loop')) {
		return chainOf(path, credential, [webStart(path), SPLIT, charge, busy(0.5)]);
	}
	const workflow = chainOf(path, credential, [webStart(path), SPLIT, LOOP, charge, busy(0.1)]);
	const to = (node: string): object => ({ node, type: 'main', index: 0 });
	return {
		...workflow,
		connections: {
			...workflow.connections,
			[LOOP.name]: { main: [[], [to(charge.name)]] },
			Busy: { main: [[to(LOOP.name)]] },
		},
	};
}

/** A node after the one that counts: a crash in it comes when that one has done its work. */
export function busy(seconds: number): NodeSketch {
	return {
		name: 'Busy',
		type: 'n8n-nodes-base.wait',
		typeVersion: 1.1,
		parameters: { resume: 'timeInterval', amount: seconds, unit: 'seconds' },
	};
}

/** The orders that an execution was asked to charge, wherever it has stopped. */
export function ordersOf(execution: Execution): Order[] {
	const items = [...execution.items('Start'), ...execution.pending];
	for (const { json } of items) {
		const asked = askedSchema.safeParse(json);
		if (asked.success) return asked.data.body.orders;
	}
	return items.flatMap(({ json }) => orderSchema.safeParse(json).data ?? []);
}

/** The hashes that Create PIX has put out, in their order; a crash leaves items that have none. */
export function chargedIn(execution: Execution): string[] {
	return execution
		.items('Charge')
		.flatMap(({ json }) => (typeof json.hash === 'string' ? [json.hash] : []));
}

const LARGEST_SEED = 2 ** 31;

/** Choices that follow from a seed. When things happen does not: the machine has a say in that. */
export class Chance {
	private state: number;

	constructor(readonly seed: number) {
		this.state = seed;
	}

	/** The seed of CRASH_SEED, or a new one; printed, so that a drill can be made again. */
	static ofThisRun(): Chance {
		const given = process.env.CRASH_SEED;
		const seed = given === undefined ? randomInt(LARGEST_SEED) : Number(given);
		process.stdout.write(`CRASH_SEED=${seed}\n`);
		return new Chance(seed);
	}

	/** An integer, both ends included. */
	within(lowest: number, highest: number): number {
		return lowest + Math.floor(this.next() * (highest - lowest + 1));
	}

	/** True so often, 0 to 1. */
	is(probability: number): boolean {
		return this.next() < probability;
	}

	/** A part of the list, so large on average. */
	some<T>(list: readonly T[], share: number): T[] {
		return list.filter(() => this.is(share));
	}

	shuffled<T>(list: readonly T[]): T[] {
		return list
			.map((value) => ({ value, rank: this.next() }))
			.sort((a, b) => a.rank - b.rank)
			.map(({ value }) => value);
	}

	/** The list cut into pieces of one to `longest`. */
	pieces<T>(list: readonly T[], longest: number): T[][] {
		const pieces: T[][] = [];
		for (let begin = 0; begin < list.length; ) {
			const end = begin + this.within(1, longest);
			pieces.push(list.slice(begin, end));
			begin = end;
		}
		return pieces;
	}

	// Mulberry32: short, and good enough for a drill.
	private next(): number {
		this.state = (this.state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	}
}

/** How often each outcome came, for a line of the figures. */
export function tally(outcomes: readonly string[]): string {
	const kinds = [...new Set(outcomes)].sort();
	return kinds.map((kind) => `${outcomes.filter((one) => one === kind).length} ${kind}`).join(', ');
}

/** Does `work` for each of the list, so many at a time. */
export async function eachOf<T>(
	list: readonly T[],
	atOnce: number,
	work: (value: T) => Promise<void>,
): Promise<void> {
	const left = [...list];
	const worker = async (): Promise<void> => {
		for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next);
	};
	await Promise.all(Array.from({ length: atOnce }, worker));
}
