import { readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import manifest from '../../package.json';
import { isPlaceholder, publishingCommands } from '../tools/package/release';
import { BY_HAND, cartOf, chainOf, createPix } from '../helpers/e2e/workflows';
import { CleanUp, run } from '../helpers/n8n/processes';
import { PACKAGE_NAME, ROOT } from '../helpers/n8n/paths';
import { startEmptyN8n } from '../helpers/n8n/n8n';

const REHEARSAL_MS = 15 * 60_000;
const HOME = 'https://git.example.test/rehearsal/n8n-nodes-digital-sales';
const PEOPLE = Object.fromEntries(
	['AUTHOR', 'COMMITTER'].flatMap((role) => [
		[`GIT_${role}_NAME`, 'Rehearsal'],
		[`GIT_${role}_EMAIL`, 'rehearsal@example.test'],
	]),
);

const versionSchema = z.object({ version: z.string() });

async function shell(command: string, cwd: string, env: NodeJS.ProcessEnv = {}): Promise<void> {
	await run('sh', ['-c', command], cwd, { ...PEOPLE, ...env });
}

async function clone(origin: string, target: string, options = ''): Promise<void> {
	await shell(`git clone --quiet ${options} '${origin}' '${target}'`, ROOT);
	await symlink(path.join(ROOT, 'node_modules'), path.join(target, 'node_modules'));
	await writeFile(path.join(target, '.git', 'info', 'exclude'), 'node_modules\n');
}

/** What the person who releases does: sets the publisher, if it is a placeholder, and tags a version. */
async function release(folder: string): Promise<string> {
	if (isPlaceholder(manifest.homepage)) {
		const fields = `homepage=${HOME} repository.url=git+${HOME}.git author.name=Rehearsal author.email=rehearsal@example.test`;
		await shell(`npm pkg set ${fields} && git commit --quiet -am 'Identity'`, folder);
	}
	await shell('npx tsx test/tools/package/version.ts minor', folder);
	await shell('git push --quiet --follow-tags', folder);
	const file = await readFile(path.join(folder, 'package.json'), 'utf8');
	return versionSchema.parse(JSON.parse(file)).version;
}

/** Works in clones of the last commit with a local registry, so that nothing leaves this machine. */
test(
	'the commands of the publishing workflow publish a tagged version, and n8n installs it',
	async () => {
		const cleanUp = new CleanUp();
		try {
			const folder = await cleanUp.folder('rehearsal');
			const origin = path.join(folder, 'origin.git');
			await shell(`git clone --quiet --bare '${ROOT}' '${origin}'`, ROOT);
			await clone(origin, path.join(folder, 'released'));
			const version = await release(path.join(folder, 'released'));
			const empty = await startEmptyN8n('rehearsal');
			cleanUp.add(empty.close);

			const published = path.join(folder, 'published');
			await clone(origin, published, `--branch v${version}`);
			const workflow = path.join(published, '.github', 'workflows', 'publish.yml');
			for (const command of publishingCommands(await readFile(workflow, 'utf8'))) {
				const env = { CI: 'true', GITHUB_REF_NAME: `v${version}` };
				if (command === 'npm ci') continue;
				// The rest of it has been run on what is released.
				else if (command === 'npm run check') await shell('npm run check -- build', published, env);
				else if (!command.startsWith('npm publish')) await shell(command, published, env);
				// Only the publishing workflow can prove the provenance.
				else
					await shell(`${command} --provenance=false`, published, {
						...env,
						PATH: empty.registry.path,
					});
			}
			await empty.registry.npm(['pack', `${PACKAGE_NAME}@${version}`], folder);
			const tarball = path.join(folder, `${PACKAGE_NAME}-${version}.tgz`);
			await shell(`npm run check -- scan '${tarball}'`, published);

			await empty.nodes.install(version);
			const charge = chainOf('A charge', await empty.n8n.createCredential(), [
				BY_HAND,
				createPix({ cart: cartOf(empty.n8n.sandbox), webhooksGoTo: 'none' }),
			]);
			const { id } = await empty.n8n.rest.createWorkflow(charge);
			expect((await empty.n8n.rest.run(id, BY_HAND.name)).error).toBeUndefined();
			expect(empty.n8n.sandbox.charges()).toBe(1);
		} finally {
			await cleanUp.run();
		}
	},
	REHEARSAL_MS,
);
