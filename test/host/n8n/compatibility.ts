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
/** What is run in each n8n: the folder of a suite, and its tests. */
const SUITES = [
	['e2e', 'journey'],
	['install', 'lifecycle'],
] as const;

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

/** Runs one suite in one n8n. */
async function runIn(host: string, [suite, tests]: readonly [string, string], log: string) {
	const folder = await mkdtemp(path.join(tmpdir(), 'digital-sales-compatibility-'));
	const output = path.join(folder, 'result.json');
	const config = `test/host/${suite}/jest.config.js`;
	const args = ['--config', config, '--json', '--outputFile', output];
	try {
		// What fails is told by the result; without one it never came so far.
		await run('npx', ['jest', ...args, `test/host/${suite}/${tests}`], {
			cwd: ROOT,
			log,
			env: { N8N_HOST: host },
		}).catch(() => {});
		const text = await readFile(output, 'utf8').catch(() => {
			throw new Error(`The ${tests} could not be tested. See ${log}`);
		});
		return resultSchema.parse(JSON.parse(text));
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

/** Runs all suites in one n8n, and reports the result. */
async function tryIn(host: string): Promise<string[]> {
	const { n8n, node } = await readHostVersions(host);
	const log = path.join(DATA_FOLDER, `compatibility-${n8n}.log`);
	await rm(log, { force: true });
	const results = await step(`n8n ${n8n} on Node.js ${node}`, async () => {
		const found: Array<z.infer<typeof resultSchema>> = [];
		for (const suite of SUITES) found.push(await runIn(host, suite, log));
		return found;
	});
	const cases = results
		.flatMap(({ testResults }) => testResults)
		.flatMap(({ assertionResults }) => assertionResults);
	const failed = cases.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
	const total = results.reduce((sum, { numTotalTests }) => sum + numTotalTests, 0);
	const passed = results.reduce((sum, { numPassedTests }) => sum + numPassedTests, 0);
	return [n8n, node, `${passed} of ${total}`, differences(failed)];
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
	say('The journey and the installer, in each n8n of test/host/n8n-host\n');
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
