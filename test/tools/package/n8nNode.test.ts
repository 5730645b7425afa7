import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { installPinned } from '../../host/n8n/host';
import { DATA_FOLDER, ROOT } from '../../host/n8n/paths';
import { run } from '../../host/n8n/processes';

const INSTALL_MS = 300_000;
const RUN_MS = 240_000;
const FOLDER = path.join(DATA_FOLDER, 'n8n-node');
const PROGRAM = path.join(FOLDER, 'node_modules', '.bin', 'n8n-node');
const SETTINGS = ['eslint.config.mjs', 'package.json', 'tsconfig.json'];
// A few of the files that ship; `npm run lint` takes all of them through the same configuration.
const SHIPPED = [
	'credentials',
	...['DigitalSales.node.ts', 'digitalSales.svg', 'digitalSales.dark.svg', 'shared'].map(
		(name) => `nodes/DigitalSales/${name}`,
	),
];

let folder: string;

// Installed once, and no dependency of the project: it brings packages that `npm ci` refuses where a
// registry lacks those for other platforms, and a lockfile of its own can leave them out.
beforeAll(async () => {
	await installPinned({
		name: "n8n's official command line",
		size: '90 MB',
		configuration: path.join(__dirname, '../n8n-node'),
		folder: FOLDER,
	});
	// A copy, because the official build removes dist/, which other tests read.
	folder = await mkdtemp(path.join(tmpdir(), 'digital-sales-official-'));
	for (const name of SETTINGS) await copy(name);
	await mkdir(path.join(folder, 'nodes'));
	await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
}, INSTALL_MS);
afterAll(async () => await rm(folder, { recursive: true, force: true }));

async function copy(name: string): Promise<void> {
	await cp(path.join(ROOT, name), path.join(folder, name), { recursive: true });
}

async function n8nNode(command: string): Promise<void> {
	const log = path.join(folder, `${command}.log`);
	// Where jest says "test", n8n's rules take every file for a node.
	await run(PROGRAM, [command], { cwd: folder, log, env: { NODE_ENV: 'development' } });
}

describe("n8n's official command line", () => {
	test(
		'refuses to build, and names the command that does',
		async () => {
			await writeFile(path.join(folder, 'nodes', 'any.ts'), 'export {};\n');
			await expect(n8nNode('build')).rejects.toThrow(/run "npm run build"/);
		},
		RUN_MS,
	);

	test(
		'lints by our rules: finds nothing in files of ours, and what breaks them',
		async () => {
			for (const name of SHIPPED) await copy(name);
			const request = "export const answer = fetch('https://example.com');\n";
			await writeFile(path.join(folder, 'nodes', 'request.ts'), request);
			const found = await n8nNode('lint').catch(String);
			expect(found).toMatch(/n8n guards its own request helpers/);
			expect(found).toContain('1 problem (1 error, 0 warnings)');
		},
		RUN_MS,
	);
});
