import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { markdownTable } from '../../support/figures';
import { readHostVersions } from './host';
import { DATA_FOLDER, HOSTS_FOLDER, ROOT } from './paths';
import { leave, run } from './processes';
import { messageOf, say, step } from './terminal';

const DOCUMENT = path.join(ROOT, 'docs', 'compatibility.md');
const COLUMNS = ['n8n', 'Node.js', 'passed', 'what differs'];
const NOTHING = 'nothing';
const MOST_NAMED = 4;
const TESTS = ['test/host/e2e/journey'];

const resultSchema = z.object({
	numTotalTests: z.number(),
	numPassedTests: z.number(),
	testResults: z.array(
		z.object({
			assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
		}),
	),
});

/** The hosts by the folder of their configuration; the pinned one has none of its own. */
async function hosts(): Promise<string[]> {
	const entries = await readdir(HOSTS_FOLDER, { withFileTypes: true });
	const older = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
	return ['', ...older.sort().reverse()];
}

/** Runs the journey in one n8n, and reports the result. */
async function tryIn(host: string): Promise<string[]> {
	const { n8n, node } = await readHostVersions(host);
	const folder = await mkdtemp(path.join(tmpdir(), 'digital-sales-compatibility-'));
	const output = path.join(folder, 'result.json');
	const log = path.join(DATA_FOLDER, `compatibility-${n8n}.log`);
	const args = [
		'--config',
		'test/host/e2e/jest.config.js',
		'--json',
		'--outputFile',
		output,
		...TESTS,
	];
	try {
		await step(`n8n ${n8n} on Node.js ${node}`, async () => {
			await rm(log, { force: true });
			const env = { N8N_HOST: host };
			// What fails is told by the result; without one it never came so far.
			await run('npx', ['jest', ...args], { cwd: ROOT, log, env }).catch(() => {});
		});
		const text = await readFile(output, 'utf8').catch(() => {
			throw new Error(`n8n ${n8n} could not be tested. See ${log}`);
		});
		const { numPassedTests, numTotalTests, testResults } = resultSchema.parse(JSON.parse(text));
		const failed = testResults
			.flatMap(({ assertionResults }) => assertionResults)
			.filter(({ status }) => status === 'failed')
			.map(({ fullName }) => fullName);
		return [n8n, node, `${numPassedTests} of ${numTotalTests}`, differences(failed)];
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

function differences(failed: string[]): string {
	if (failed.length === 0) return NOTHING;
	const shown = failed.slice(0, MOST_NAMED).join('; ');
	return failed.length > MOST_NAMED
		? `fails: ${shown}; and ${failed.length - MOST_NAMED} more`
		: `fails: ${shown}`;
}

async function keep(table: string): Promise<void> {
	const text = await readFile(DOCUMENT, 'utf8');
	await writeFile(
		DOCUMENT,
		text.replace(/^\| n8n .*(\n\|.*)*/m, () => table),
	);
}

async function compare(): Promise<void> {
	say('The journey, in each n8n of test/host/n8n-host\n');
	const rows: string[][] = [];
	// One after the other: each starts an n8n of its own.
	for (const host of await hosts()) rows.push(await tryIn(host));
	const table = markdownTable(COLUMNS, rows);
	say(`\n${table}`);
	if (process.env.WRITE_MEASUREMENTS === '1') await keep(table);
	const isWhole = rows.every(([, , , differs]) => differs === NOTHING);
	leave(
		isWhole ? 0 : 1,
		isWhole ? '\nIt works in every version.' : '\nIt does not work in every version.',
	);
}

compare().catch((error: unknown) => leave(1, `\n${messageOf(error)}`));
