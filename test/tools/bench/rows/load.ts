import { gzipSync } from 'node:zlib';
import { execFile } from 'node:child_process';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { installHost } from '../../../host/n8n/host';
import { HOST_FOLDER } from '../../../host/n8n/paths';
import { packAndUnpack } from '../../package/unpack';
import { inTurn } from '../bench';
import { type GroupOutcome, sampleOf } from '../outcome';

const ROUNDS = { warmUps: 2, counted: 11 };
const KB = 1_000;
const OURS = [
	'dist/nodes/DigitalSales/DigitalSales.node.js',
	'dist/nodes/DigitalSales/DigitalSalesTrigger.node.js',
	'dist/credentials/DigitalSalesApi.credentials.js',
];
const STRIPE = [
	'n8n-nodes-base/dist/nodes/Stripe/Stripe.node.js',
	'n8n-nodes-base/dist/nodes/Stripe/StripeTrigger.node.js',
	'n8n-nodes-base/dist/credentials/StripeApi.credentials.js',
];

// What n8n has loaded long before any node is not counted to either side.
const SCRIPT = `
	require('n8n-workflow'); require('zod');
	const start = performance.now();
	for (const file of process.argv.slice(1)) require(file);
	console.log(performance.now() - start);
`;

const LOADED = `
	require('n8n-workflow'); require('zod');
	const before = new Set(Object.keys(require.cache));
	for (const file of process.argv.slice(1)) require(file);
	console.log(Object.keys(require.cache).filter((file) => !before.has(file)).join('\\n'));
`;

/** What the package costs an n8n that starts, and a person who downloads it. */
export async function load(): Promise<GroupOutcome> {
	const { node } = await installHost();
	const modules = path.join(HOST_FOLDER, 'node_modules');
	const packed = await packAndUnpack();
	try {
		const whole = (await stat(packed.tarball)).size;
		const withoutLibrary = await packedSize(packed.folder, 'dist/vendor');
		const idle = await idleModules(node, packed.folder);
		const sides = [
			OURS.map((file) => path.join(packed.folder, file)),
			STRIPE.map((file) => path.join(modules, file)),
			idle,
		];
		const runs = await inTurn(sides, ROUNDS, async (files) => {
			const { stdout } = await promisify(execFile)(node, ['-e', SCRIPT, ...files], {
				cwd: modules,
				env: { NODE_PATH: modules },
			});
			return Number(stdout);
		});
		const [ours = [], peer = [], floor = []] = runs;
		return {
			outcomes: [
				{
					what: '`require` of both nodes and the credential',
					unit: 'ms',
					ours: sampleOf(ours),
					peer: { name: 'Stripe and Stripe Trigger of n8n', figures: sampleOf(peer) },
					floor: sampleOf(floor),
					goal: {
						of: 'ours',
						bound: 'atMost',
						value: 12,
						missedBecause: `the package loads all of itself at once. ${idle.length} modules with the same texts that do nothing, the floor of this row, take most of the goal. Less would be loaded if each operation was loaded when it runs; but n8n writes an update over the files of the version that runs, and an operation loaded after that would be of another version than the rest.`,
					},
				},
				{
					what: 'tarball without the QR library',
					unit: 'kB',
					ours: sampleOf([withoutLibrary / KB]),
					goal: {
						of: 'ours',
						bound: 'atMost',
						value: 60,
						missedBecause:
							'every file of the sources is one in the package, as it is compiled and not minified, so that it can be read where it runs and an error names its file; the README, the license and package.json are in it, too.',
					},
					notes: [`The tarball as it is published has ${(whole / KB).toFixed(1)} kB.`],
				},
			],
			method:
				'Each time in a new process of the Node.js that n8n runs on, in which n8n-workflow and zod are loaded before. The files of n8n are single modules as well, not bundles.',
		};
	} finally {
		await packed.remove();
	}
}

/** Copies of the modules that the package loads, with their texts in a function that nothing calls. */
async function idleModules(node: string, folder: string): Promise<string[]> {
	const entries = OURS.map((file) => path.join(folder, file));
	const cwd = path.join(HOST_FOLDER, 'node_modules');
	const loaded = await promisify(execFile)(node, ['-e', LOADED, ...entries], {
		cwd,
		env: { NODE_PATH: cwd },
	});
	const modules = loaded.stdout.trim().split('\n');
	await mkdir(path.join(folder, 'idle'));
	return await Promise.all(
		modules.map(async (file, nth) => {
			const copy = path.join(folder, 'idle', `${nth}.js`);
			await writeFile(copy, `function idle() {\n${await readFile(file, 'utf8')}\n}\n`);
			return copy;
		}),
	);
}

/** Bytes of a tarball of a folder, made as npm makes it, without one of its folders. */
async function packedSize(folder: string, without: string): Promise<number> {
	const tar = await promisify(execFile)(
		'tar',
		[
			'-c',
			'--format=ustar',
			'--owner=0',
			'--group=0',
			'--sort=name',
			`--exclude=./${without}`,
			'.',
		],
		{ cwd: folder, encoding: 'buffer', maxBuffer: 64 * 1_024 * 1_024 },
	);
	return gzipSync(tar.stdout, { level: 9 }).length;
}
