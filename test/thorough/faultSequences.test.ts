import * as fc from 'fast-check';
import type { IRunExecutionData } from 'n8n-workflow';
import { runNode, type NodeOutcome } from '../helpers/engine';
import { useAccount } from '../helpers/account';
import type { Fault } from '../sandbox';
import { cpf } from '../helpers/charge';
import { builtPackage, forgetEverything, restart } from '../helpers/thorough/builtPackage';
import { operationAt } from '../helpers/thorough/operations';

const SEQUENCES = Number(process.env.FAULT_SEQUENCES ?? 2_000);
const SEED = Number(process.env.FAULT_SEED ?? 20_261_120);

const statuses = fc.constantFrom(
	...[200, 201, 400, 401, 404, 408, 409, 422, 429, 499, 500, 502, 503, 504, 520],
);

const fault: fc.Arbitrary<Fault> = fc.oneof(
	fc
		.record({
			kind: fc.constantFrom('status' as const, 'echoRequest' as const),
			status: statuses,
			processed: fc.boolean(),
		})
		// These faults may claim a refusal after a charge, which no client could notice.
		.map(({ processed, ...one }) => ({
			...one,
			processed: processed && (one.status >= 500 || [408, 499].includes(one.status)),
		})),
	fc.record({
		kind: fc.constantFrom('html' as const, 'notJson' as const, 'emptyBody' as const),
		processed: fc.boolean(),
	}),
	fc.record({
		kind: fc.constant('truncatedBody' as const),
		mode: fc.constantFrom('cut' as const, 'short' as const),
	}),
	fc.record({
		kind: fc.constant('retryAfter' as const),
		format: fc.constantFrom(undefined, 'absent' as const),
	}),
	fc.constantFrom<Fault[]>(
		{ kind: 'resetBeforeProcessing' },
		{ kind: 'resetAfterProcessing' },
		{ kind: 'successFalse' },
		{ kind: 'wrapData' },
		{ kind: 'refused' },
	),
);

const scenario = fc.record({
	faults: fc.array(fc.tuple(fault, fc.nat(3)), { maxLength: 6 }),
	items: fc.integer({ min: 1, max: 3 }),
	retryOnFail: fc.boolean(),
	continueOnFail: fc.boolean(),
	referenced: fc.boolean(),
	/** How often the whole workflow runs again with the same orders. */
	repeats: fc.integer({ min: 0, max: 2 }),
	/** How often the failed execution is retried. */
	retries: fc.integer({ min: 0, max: 2 }),
	/** Whether n8n is restarted before each of these runs. */
	restarts: fc.boolean(),
});

describe('Random sequences of faults', () => {
	const account = useAccount();

	test(`no customer is charged twice in ${SEQUENCES} sequences, seed ${SEED}`, async () => {
		const { sandbox, credentials } = account;
		let sequence = 0;
		await fc.assert(
			fc.asyncProperty(scenario, async (plan) => {
				sequence += 1;
				sandbox.reset();
				forgetEverything();
				for (const [one, after] of plan.faults) {
					sandbox.addFault({ endpoint: 'POST /transactions', ...one, after });
				}
				const items = Array.from({ length: plan.items }, (_, index) => ({
					name: `Customer ${index}`,
					document: cpf(111_444_777 + index),
					reference: `order-${sequence}-${index}`,
				}));
				const parameters = {
					...operationAt('POST /transactions', sandbox).parameters,
					customerName: '={{ $json.name }}',
					customerDocument: '={{ $json.document }}',
					orderReference: plan.referenced ? '={{ $json.reference }}' : '',
				};
				const execute = async (retryOf?: IRunExecutionData): Promise<NodeOutcome> => {
					if (plan.restarts) restart();
					return await runNode(parameters, {
						items,
						mode: 'trigger',
						workflowId: `sequence ${sequence}`,
						...(retryOf && { retryOf }),
						continueOnFail: plan.continueOnFail,
						settings: { retryOnFail: plan.retryOnFail, maxTries: 3, waitBetweenTries: 1 },
						credentials,
						process: builtPackage,
					});
				};
				// Without a reference a second run is a second order.
				const runs = plan.referenced ? 1 + plan.repeats : 1;
				for (let run = 0; run < runs; run++) {
					const { status, run: stored } = await execute();
					if (status === 'success' || stored === undefined) continue;
					for (let retry = 0; retry < plan.retries; retry++) await execute(stored.data);
				}
				const live = sandbox.transactions.filter((one) => one.payment_status !== 'refused');
				const charged = live.map(({ customer }) => customer.name);
				expect(charged).toEqual([...new Set(charged)]);
			}),
			{ numRuns: SEQUENCES, seed: SEED },
		);

		expect(sequence).toBeGreaterThanOrEqual(SEQUENCES);
	});
});
