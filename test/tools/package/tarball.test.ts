import { readFile } from 'node:fs/promises';
import path from 'node:path';
import manifest from '../../../package.json';
import { type Account, openAccount, pixParameters } from '../../product/engine/support/account';
import { installPackage } from '../../host/n8n/packageInstall';
import { PACKAGE_NAME, ROOT } from '../../host/n8n/paths';
import { capture } from '../../host/n8n/processes';
import type { HostReport } from './installedHost';
import { playN8n } from './playN8n';
import { isPlaceholder } from './release';
import { filesIn, packAndUnpack, type Packed } from './unpack';

const BUILD_MS = 60_000;

// What n8n's installer calls npm with once the package is unpacked and its lists are stripped.
const N8N_INSTALL = [
	'install',
	'--audit=false',
	'--fund=false',
	'--bin-links=false',
	'--install-strategy=shallow',
	'--ignore-scripts=true',
	'--package-lock=false',
];

/** The terms of the library that stands in the package. */
const VENDOR_TERMS = [
	'dist/vendor/checkDigits/LICENSE',
	'dist/vendor/qrCode/LICENSE.md',
	'dist/vendor/qrCode/NOTICE.md',
];

/** What package.json says of who publishes, as long as nobody has set it. */
const PLACEHOLDERS = [manifest.homepage, manifest.author.name, manifest.author.email].filter(
	isPlaceholder,
);

let packed: Packed;

beforeAll(async () => {
	packed = await packAndUnpack();
}, BUILD_MS);

afterAll(async () => await packed?.remove());

describe('the tarball', () => {
	test('holds one file for each that ships, and nothing else', async () => {
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

	test('names who publishes it in package.json and nowhere else', async () => {
		const others = packed.files.filter((file) => file !== 'package.json');
		const texts = await Promise.all(others.map(async (file) => [file, await read(file)]));
		const named = texts.filter(([, text]) => PLACEHOLDERS.some((value) => text?.includes(value)));
		expect(named.map(([file]) => file)).toEqual([]);
	});

	test('holds all that its package.json names', async () => {
		const { n8n } = manifest;
		for (const file of [...n8n.nodes, ...n8n.credentials]) expect(packed.files).toContain(file);
	});

	test.each(manifest.n8n.nodes)('describes %s by a codex file that names it', async (file) => {
		const codex = JSON.parse(await read(`${file}on`)) as { node: string };
		const name = path.basename(file, '.node.js');
		expect(codex.node).toBe(`${PACKAGE_NAME}.${name[0]?.toLowerCase()}${name.slice(1)}`);
	});

	test('needs nothing at run time but what n8n has', async () => {
		expect(manifest).not.toHaveProperty('dependencies');
		expect(manifest).not.toHaveProperty('optionalDependencies');
		expect(manifest).not.toHaveProperty('bundledDependencies');
		expect(manifest.peerDependencies).toEqual({ 'n8n-workflow': '*' });
	});
});

describe('installed as n8n installs it', () => {
	let account: Account;
	let installed: string;
	let report: HostReport;

	beforeAll(async () => {
		const userFolder = path.join(packed.folder, 'user');
		installed = path.join(userFolder, '.n8n', 'nodes', 'node_modules', PACKAGE_NAME);
		await installPackage(packed.tarball, userFolder);
		await capture('npm', [...N8N_INSTALL, '--offline'], installed);
		account = await openAccount();
		report = await playN8n({
			folder: installed,
			credentials: account.credentials,
			parameters: pixParameters(account.sandbox),
		});
	}, BUILD_MS);

	afterAll(async () => await account?.sandbox.close());

	test('brings no modules of its own', async () => {
		expect(await filesIn(installed)).toEqual(packed.files);
		for (const { fromPackage, fromHost } of Object.values(report.found)) {
			expect(fromPackage).toBe(fromHost);
			expect(fromPackage).toContain(path.join(ROOT, 'node_modules'));
		}
	});

	test("is loaded by n8n's own loader in production", () => {
		const { version } = manifest;
		const categories = ['Finance & Accounting', 'Sales'];
		expect(report.production).toBe(true);
		expect(report.nodes).toMatchObject([
			{ name: `${PACKAGE_NAME}.digitalSales`, categories, packageVersion: version },
			{ name: `${PACKAGE_NAME}.digitalSalesTrigger`, categories, packageVersion: version },
		]);
		expect(report.credentials).toMatchObject([
			{ name: 'digitalSalesApi', nodes: ['digitalSales', 'digitalSalesTrigger'] },
		]);
		expect(report.credentials[0]?.documentation).toContain(`/package/${PACKAGE_NAME}#`);
	});

	test('shows an icon for light and one for dark', () => {
		for (const { icons } of [...report.nodes, ...report.credentials]) {
			expect(new Set(icons).size).toBe(2);
		}
		expect(report.missing).toEqual([]);
	});

	test('charges a customer in the service', () => {
		expect(report.run).toMatchObject({ status: 'success', items: [{ payment_method: 'pix' }] });
		expect(account.sandbox.charges()).toBe(1);
	});
});

async function read(name: string): Promise<string> {
	return await readFile(path.join(packed.folder, name), 'utf8');
}

/** What the build makes of a folder of sources: each file once, compiled if it is TypeScript. */
async function builtFrom(folder: string): Promise<string[]> {
	const sources = await filesIn(path.join(ROOT, folder));
	return sources.map((name) => `dist/${folder}/${name.replace(/\.ts$/, '.js')}`);
}
