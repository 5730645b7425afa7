import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ROOT } from '../../host/n8n/paths';
import { run } from '../../host/n8n/processes';
import { installN8nNode } from '../n8n-node/install';

const INSTALL_MS = 300_000;
const RUN_MS = 240_000;
const SETTINGS = ['eslint.config.mjs', 'package.json', 'tsconfig.json'];
const CREDENTIAL = path.join('credentials', 'DigitalSalesApi.credentials.ts');

let program: string;
let folder: string;

beforeAll(async () => void (program = await installN8nNode()), INSTALL_MS);

// A copy, because the official build removes dist/, which other tests read.
async function copy(names: string[]): Promise<void> {
	folder = await mkdtemp(path.join(tmpdir(), 'digital-sales-official-'));
	for (const name of names) {
		await cp(path.join(ROOT, name), path.join(folder, name), { recursive: true });
	}
	await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
}
afterEach(async () => await rm(folder, { recursive: true, force: true }));

async function n8nNode(command: string): Promise<void> {
	const log = path.join(folder, `${command}.log`);
	// Where jest says "test", n8n's rules take every file for a node.
	await run(program, [command], { cwd: folder, log, env: { NODE_ENV: 'development' } });
}

describe("n8n's official command line", () => {
	test(
		'finds nothing against this repository, and what breaks its rules',
		async () => {
			await copy(['credentials', 'nodes', 'vendor', ...SETTINGS]);
			const request = "export const answer = fetch('https://example.com');\n";
			await writeFile(path.join(folder, 'nodes', 'request.ts'), request);
			const found = await n8nNode('lint').catch(String);
			expect(found).toMatch(/n8n guards its own request helpers/);
			expect(found).toContain('1 problem (1 error, 0 warnings)');
		},
		RUN_MS,
	);

	test(
		'refuses to build, and names the command that does',
		async () => {
			await copy([CREDENTIAL, ...SETTINGS]);
			await expect(n8nNode('build')).rejects.toThrow(/run "npm run build"/);
		},
		RUN_MS,
	);
});
