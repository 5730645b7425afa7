import { createRequire } from 'node:module';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import manifest from '../../package.json';
import { clock } from '../../nodes/DigitalSales/shared/clock';
import { PACKAGE_NAME, ROOT } from '../helpers/n8n/paths';
import { run } from '../helpers/n8n/processes';
import { type Classes, NodeProcess } from '../helpers/engine';
import { pixParameters, useAccount } from '../helpers/account';
import { isPlaceholder } from '../tools/package/release';
import { filesIn, packAndUnpack, type Packed } from '../tools/package/unpack';

const BUILD_MS = 60_000;

/** The licenses of the bundled libraries. */
const VENDOR_TERMS = [
	'dist/vendor/checkDigits/LICENSE',
	'dist/vendor/qrCode/LICENSE.md',
	'dist/vendor/qrCode/NOTICE.md',
];

/** The publisher in package.json, as long as it is a placeholder. */
const PLACEHOLDERS = [manifest.homepage, manifest.author.name, manifest.author.email].filter(
	isPlaceholder,
);

let packed: Packed;
beforeAll(async () => {
	packed = await packAndUnpack();
}, BUILD_MS);
afterAll(async () => await packed?.remove());

describe('the tarball', () => {
	const read = async (name: string): Promise<string> =>
		await readFile(path.join(packed.folder, name), 'utf8');

	test('contains the files that ship, and nothing else', async () => {
		expect(packed.files).toEqual(
			[
				'LICENSE',
				'README.md',
				'package.json',
				...(await builtFrom('credentials')),
				...(await builtFrom('nodes')),
				...(await builtFrom('vendor')),
				...VENDOR_TERMS,
			].sort(),
		);
	});

	test('names the publisher in package.json and nowhere else', async () => {
		const others = packed.files.filter((file) => file !== 'package.json');
		const texts = await Promise.all(others.map(async (file) => [file, await read(file)]));
		const named = texts.filter(([, text]) => PLACEHOLDERS.some((value) => text?.includes(value)));
		expect(named.map(([file]) => file)).toEqual([]);
	});

	test.each(manifest.n8n.nodes)('describes %s by a codex file that names it', async (file) => {
		const codex = JSON.parse(await read(`${file}on`)) as { node: string };
		const name = path.basename(file, '.node.js');
		expect(codex.node).toBe(`${PACKAGE_NAME}.${name[0]?.toLowerCase()}${name.slice(1)}`);
	});

	test.each(manifest.n8n.credentials)('says in %s where the package is explained', async (file) => {
		expect(await read(file)).toContain(`/package/${PACKAGE_NAME}#`);
	});
});

describe('in an n8n that brings zod 4', () => {
	const account = useAccount();
	let installed: NodeProcess;
	beforeAll(async () => {
		const modules = path.join(packed.folder, 'node_modules');
		await mkdir(modules);
		for (const name of ['lodash', 'n8n-workflow']) {
			await symlink(path.join(ROOT, 'node_modules', name), path.join(modules, name));
		}
		// Of zod, nothing but what zod 4 brings as well.
		await mkdir(path.join(modules, 'zod'));
		await symlink(path.join(ROOT, 'node_modules/zod/v3'), path.join(modules, 'zod/v3'));
		const load = createRequire(path.join(packed.folder, 'package.json'));
		const files = [...manifest.n8n.nodes, ...manifest.n8n.credentials];
		installed = new NodeProcess(
			Object.assign({}, ...files.map((file) => load(`./${file}`) as object)) as Classes,
		);
	});

	test('Create PIX charges after a 429 that asks for a wait, and forms say what is wrong', async () => {
		const parameters = pixParameters(account.sandbox, { webhooksGoTo: 'automatic' });
		account.fault('charge', { kind: 'retryAfter', seconds: 40 });
		const startedAt = clock.elapsed();

		const { json } = await account.run(parameters, { process: installed });
		const wrong = await account.fail(
			{ ...parameters, customerDocument: '1' },
			{ process: installed },
		);

		expect(json).toMatchObject([{ payment_status: 'waiting_payment' }]);
		expect(clock.elapsed() - startedAt).toBeGreaterThanOrEqual(40_000);
		expect(wrong.message).toMatch(/^Customer CPF or CNPJ /);
	});
});

// `n8n-node build` runs tsc. Its tarball would lack codex files and libraries.
test(
	'a plain tsc refuses to build, and names the command that does',
	async () => {
		const folder = await mkdtemp(path.join(tmpdir(), 'digital-sales-plain-'));
		await copyFile(path.join(ROOT, 'tsconfig.json'), path.join(folder, 'tsconfig.json'));
		await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
		await mkdir(path.join(folder, 'nodes'));
		await writeFile(path.join(folder, 'nodes', 'any.ts'), 'export {};\n');

		const built = run(process.execPath, [require.resolve('typescript/bin/tsc')], folder);

		await expect(built).rejects.toThrow(/run "npm run build"/);
		await rm(folder, { recursive: true });
	},
	BUILD_MS,
);

/** The files that the build makes from a folder of sources. TypeScript is compiled. */
async function builtFrom(folder: string): Promise<string[]> {
	const sources = await filesIn(path.join(ROOT, folder));
	return sources.map((name) => `dist/${folder}/${name.replace(/\.ts$/, '.js')}`);
}
