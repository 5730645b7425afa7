import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { IDataObject } from 'n8n-workflow';
import { chargeAt } from '../../support/charge';
import { everyOperation, sampleOf } from '../../support/samples';
import {
	ACTION_TYPE,
	connect,
	runWorkflow,
	serveWebhook,
	START_TYPE,
	TRIGGER_TYPE,
} from './harness';
import { type Account, openAccount } from './support/account';

const FOLDER = path.join(__dirname, '../../../nodes/DigitalSales/__schema__');
/** By the type version of the node. */
const [OF_ACTION, OF_TRIGGER] = ['v1.0.0', 'v2.0.0'];

const fileOf = (name: string): string => path.join(FOLDER, `${name}.json`);
/** The preview that is there, if one is. */
const stored = (name: string): unknown =>
	existsSync(fileOf(name)) ? JSON.parse(readFileSync(fileOf(name), 'utf8')) : undefined;
const operations = everyOperation().map(
	({ resource, value }) => `${OF_ACTION}/${resource}/${value}`,
);
/** As n8n's own trigger has it. The editor previews no trigger; what builds workflows in n8n does. */
const TRIGGER = `${OF_TRIGGER}/output`;

function typeOf(value: unknown): string {
	if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
	// What the sandbox does not state is a text in the service.
	return value === null ? 'string' : typeof value;
}

describe('What the editor shows of an output before the node has run', () => {
	let account: Account;

	beforeAll(async () => {
		account = await openAccount();
	});
	beforeEach(() => account.reset());
	afterAll(async () => await account.sandbox.close());

	const outputOf = async (name: string): Promise<IDataObject> => {
		const transactionHash = await chargeAt(account.sandbox);
		await account.sandbox.setStatus(transactionHash, 'paid');
		const parameters = sampleOf(name.replace(`${OF_ACTION}/`, ''), account.sandbox, {
			transactionHash,
		});
		const { data } = await runWorkflow({
			nodes: [
				{ name: 'Start', type: START_TYPE },
				{ name: 'Node', type: ACTION_TYPE, parameters },
				// For the operation that shows its address.
				{ name: 'Sale', type: TRIGGER_TYPE },
			],
			connections: connect({ Start: 'Node' }),
			credentials: account.credentials,
		});
		return data.Node?.items[0]?.json ?? {};
	};

	test('is there for every operation, and for no other', () => {
		const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' });

		expect(files.filter((file) => file.endsWith('.json')).sort()).toEqual(
			[...operations, TRIGGER].map((name) => `${name}.json`).sort(),
		);
	});

	test('is what the trigger emits', async () => {
		const hash = await chargeAt(account.sandbox);
		await account.sandbox.setStatus(hash, 'paid');
		const trigger = await serveWebhook({ credentials: account.credentials });

		await trigger.post({ hash });

		trigger.stopListening();
		expectPreview(TRIGGER, trigger.executions[0]?.[0]?.json ?? {});
	});

	test.each(operations)('is what %s returns (npm run write)', async (name) => {
		expectPreview(name, await outputOf(name));
	});

	function expectPreview(name: string, output: IDataObject): void {
		const fields = Object.entries(output).map(([field, value]) => [field, { type: typeOf(value) }]);
		const preview = {
			type: 'object',
			properties: Object.fromEntries(fields),
			version: 1,
		};
		// The order of the fields is the service's, and says nothing.
		if (process.env.WRITE && !isDeepStrictEqual(stored(name), preview)) {
			mkdirSync(path.dirname(fileOf(name)), { recursive: true });
			writeFileSync(fileOf(name), `${JSON.stringify(preview, null, 2)}\n`);
		}

		expect(stored(name)).toEqual(preview);
		expect(fields.length).toBeGreaterThan(0);
		expect(fields.length).toBeLessThanOrEqual(10);
	}
});
