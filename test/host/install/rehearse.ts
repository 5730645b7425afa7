import { readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import manifest from '../../../package.json';
import { isPlaceholder } from '../../tools/package/identity';
import { publishingCommands } from '../../tools/package/publishingCommands';
import { cartOf } from '../e2e/stage/cart';
import { chainOf, createPix } from '../e2e/stage/workflows';
import { CleanUp } from '../n8n/cleanUp';
import { DATA_FOLDER, PACKAGE_NAME, ROOT } from '../n8n/paths';
import { capture, leave, run } from '../n8n/processes';
import { messageOf, say, step } from '../n8n/terminal';
import { EmptyN8n } from './stage/emptyN8n';

const WORKFLOW = path.join('.github', 'workflows', 'publish.yml');
const IDENTITY = {
	homepage: 'https://git.example.test/rehearsal/n8n-nodes-digital-sales',
	author: 'Rehearsal',
	email: 'rehearsal@example.test',
};
const RISE = 'minor';
const START = 'By hand';

const versionSchema = z.object({ version: z.string() });
const log = path.join(DATA_FOLDER, 'rehearsal.log');

/** Runs a command in a shell; the commits it makes are by nobody in particular. */
async function shell(command: string, cwd: string, env: NodeJS.ProcessEnv = {}): Promise<void> {
	const { author, email } = IDENTITY;
	const people = ['AUTHOR', 'COMMITTER'].map((role) => ({
		[`GIT_${role}_NAME`]: author,
		[`GIT_${role}_EMAIL`]: email,
	}));
	await run('sh', ['-c', command], { cwd, log, env: Object.assign({}, ...people, env) });
}

/** What the person who releases does: an identity where none is set yet, and a version with its tag. */
async function release(origin: string, clone: string): Promise<string> {
	await shell(`git clone --quiet '${origin}' '${clone}'`, ROOT);
	await symlink(path.join(ROOT, 'node_modules'), path.join(clone, 'node_modules'));
	await writeFile(path.join(clone, '.git', 'info', 'exclude'), 'node_modules\n');
	if (isPlaceholder(manifest.homepage)) {
		const { homepage, author, email } = IDENTITY;
		const options = `--homepage ${homepage} --author ${author} --email ${email}`;
		await shell(`npm run identity -- ${options} && git commit --quiet -am 'Identity'`, clone);
	}
	await shell(`npm version ${RISE} --ignore-scripts=false`, clone);
	await shell('git push --quiet --follow-tags', clone);
	const file = await readFile(path.join(clone, 'package.json'), 'utf8');
	return versionSchema.parse(JSON.parse(file)).version;
}

/** What somebody who installs the version gets: it loads, and it charges once. */
async function tryInstalled(n8n: EmptyN8n, version: string): Promise<void> {
	const { installedVersion } = await n8n.packages.install(version);
	if (installedVersion !== version) throw new Error(`n8n has installed ${installedVersion}.`);
	const charge = chainOf('A charge', await n8n.createCredential(), [
		{ name: START, type: 'n8n-nodes-base.manualTrigger' },
		createPix({ cart: cartOf(n8n.sandbox), notify: 'none' }),
	]);
	const { id } = await n8n.rest.createWorkflow(charge);
	const { error } = await n8n.rest.run(id, START);
	const charges = n8n.sandbox.charges();
	if (error !== undefined || charges !== 1) {
		throw new Error(`The installed node charged ${charges} times. ${error ?? ''}`);
	}
}

async function main(): Promise<void> {
	if ((await capture('git', ['status', '--porcelain'], ROOT)) !== '') {
		throw new Error('A release is made of what is committed: commit your changes first.');
	}
	await rm(log, { force: true });
	const commands = publishingCommands(await readFile(path.join(ROOT, WORKFLOW), 'utf8'));
	const cleanUp = new CleanUp();
	try {
		const folder = await cleanUp.folder('rehearsal');
		const origin = path.join(folder, 'origin.git');
		const published = path.join(folder, 'published');
		await shell(`git clone --quiet --bare '${ROOT}' '${origin}'`, ROOT);
		const version = await step(
			`npm version ${RISE}, git push --follow-tags`,
			async () => await release(origin, path.join(folder, 'released')),
		);
		const tag = `v${version}`;
		const n8n = await step('An n8n and a registry', async () => await EmptyN8n.open('rehearsal'));
		cleanUp.add(n8n.close);
		await shell(`git clone --quiet --branch '${tag}' '${origin}' '${published}'`, ROOT);
		for (const command of commands) {
			const publishes = command === commands.at(-1);
			const env = { CI: 'true', GITHUB_REF_NAME: tag };
			await step(command, async () =>
				publishes
					? // Only a workflow can vouch for where a package comes from.
						await shell(`${command} --provenance=false`, published, {
							...env,
							PATH: n8n.registry.path,
						})
					: await shell(command, published, env),
			);
		}
		await step(`n8n installs ${version} and charges`, async () => {
			await tryInstalled(n8n, version);
		});
		await step('npm run scan', async () => {
			const tarball = await n8n.registry.download(PACKAGE_NAME, version);
			await shell(`npm run scan -- '${tarball}'`, published);
		});
		say(`${version} could be released. Nothing has left this machine, and no file has changed.`);
	} finally {
		await cleanUp.run();
	}
}

main().catch((error: unknown) => leave(1, messageOf(error)));
