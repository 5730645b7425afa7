import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { IDataObject } from 'n8n-workflow';
import { chargeAt } from '../helpers/charge';
import { everyOperation, sampleOf } from '../helpers/samples';
import { serveWebhook, TRIGGER_TYPE } from '../helpers/engine';
import { useAccount } from '../helpers/account';

const FOLDER = path.join(__dirname, '../../nodes/DigitalSales/__schema__');
/** In folders by the type version of the node. */
const OPERATIONS = everyOperation().map(({ resource, value }) => `v1.0.0/${resource}/${value}`);
/** As n8n's own trigger has it. Not the editor, but n8n's builder of workflows reads it. */
const TRIGGER = 'v2.0.0/output';

function typeOf(value: unknown): string {
	if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
	// A value that the sandbox omits is text in the platform.
	return value === null ? 'string' : typeof value;
}

function expectPreview(name: string, output: IDataObject = {}): void {
	const fields = Object.entries(output).map(([field, value]) => [field, { type: typeOf(value) }]);
	const preview = { type: 'object', properties: Object.fromEntries(fields), version: 1 };
	const file = path.join(FOLDER, `${name}.json`);
	const stored = (): unknown =>
		existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
	// The platform decides the order of the fields.
	if (process.env.WRITE && !isDeepStrictEqual(stored(), preview)) {
		mkdirSync(path.dirname(file), { recursive: true });
		writeFileSync(file, `${JSON.stringify(preview, null, 2)}\n`);
	}

	expect(stored()).toEqual(preview);
	expect(fields.length).toBeGreaterThan(0);
	// The wait adds three of its own, and needs no time of change; a charge says whether it is new.
	const own = output.already_charged === undefined ? 0 : 1;
	expect(fields.length - own).toBeLessThanOrEqual(output.checked_at === undefined ? 10 : 12);
}

describe('What the editor shows of an output before the node has run', () => {
	const account = useAccount();
	let transactionHash: string;

	beforeEach(async () => {
		transactionHash = await chargeAt(account.sandbox);
		await account.sandbox.setStatus(transactionHash, 'paid');
	});

	test('exists for every operation, and for nothing else', () => {
		const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' });

		expect(files.filter((file) => file.endsWith('.json')).sort()).toEqual(
			[...OPERATIONS, TRIGGER].map((name) => `${name}.json`).sort(),
		);
	});

	test('is what the trigger emits', async () => {
		const trigger = await serveWebhook({ credentials: account.credentials });

		await trigger.post({ hash: transactionHash });

		trigger.stopListening();
		expectPreview(TRIGGER, trigger.emitted[0]?.[0]?.json);
	});

	test.each(OPERATIONS)('is what %s returns (npm run check -- write)', async (name) => {
		const operation = name.replace(/^[^/]+\//, '');
		const { outputs } = await account.run(
			sampleOf(operation, account.sandbox, { transactionHash }),
			{
				// For the operation that shows its address.
				beside: [{ name: 'Sale', type: TRIGGER_TYPE }],
			},
		);

		expectPreview(name, outputs.flat()[0]?.json);
	});
});
