import { watch } from 'node:fs';
import path from 'node:path';
import debounce from 'lodash/debounce';
import { RECIPES } from '../../../examples/source';
import { render } from '../../../examples/source/workflow';
import { installHost } from './host';
import { type Journey, NODES } from './journey';
import { type N8n, startWithJourney } from './n8n';
import { DATA_FOLDER, ROOT } from './paths';
import { freePort } from './processes';
import { DEMO_LOGIN } from './rest';
import { messageOf, runProgram, say, step } from './terminal';

const SANDBOX_PORT = 4010;
const N8N_PORT = 5678;
const KEPT_FOLDER = path.join(DATA_FOLDER, 'kept');
const WATCHED = ['nodes', 'credentials', 'vendor'];
const QUIET_MS = 500;

let running: N8n | undefined;

/**
 * Starts n8n with the package, and the sandbox. With `--keep`, workflows, credentials and executions stay for the next
 * start; `--watch` also loads changes.
 */
async function start(options: readonly string[]): Promise<void> {
	const isWatching = options.includes('--watch');
	const isKept = isWatching || options.includes('--keep');
	say('Digital Sales: a real n8n, and a local sandbox that simulates the platform\n');
	await installHost();
	const { n8n, journey } = await step('Building the package, starting n8n', async () => {
		const sandbox = { port: await freePort(SANDBOX_PORT) };
		const userFolder = isKept && { userFolder: KEPT_FOLDER };
		return await startWithJourney('start', { sandbox, port: N8N_PORT, ...userFolder });
	});
	running = n8n;
	if (journey.isNew) {
		await step('Recipes, as drafts to complete', async () => {
			for (const [name, recipe] of Object.entries(RECIPES)) {
				await n8n.rest.createWorkflow(render(recipe, name, 'en'));
			}
		});
	}
	introduce(n8n, journey);
	if (isWatching) reloadOnChange(n8n);

	const lastWords = await new Promise<string>((resolve) => {
		n8n.main.onDeath = resolve;
	});
	throw new Error(`n8n stopped unexpectedly.\n${lastWords}\n(all of it: ${n8n.main.log})`);
}

function introduce({ url, sandbox }: N8n, { workflow }: Journey): void {
	say(`
  Editor      ${url}
  Sign in     ${DEMO_LOGIN.email}
  Password    ${DEMO_LOGIN.password}
  Sandbox     ${sandbox.pageUrl}

What to try
  1. In the editor, open "${workflow.name}".
     Next to "Execute workflow" choose "${NODES.start}", then press it: it lists the catalog,
     creates an offer, and charges a made-up customer by PIX.
  2. On the sandbox page, pay the new transaction. Or let the next charge fail there, and try again.
  3. In the editor, open Executions: "${NODES.trigger}" has run with the paid transaction.

Ctrl-C stops everything.`);
}

/** Installs each change of the code, and restarts n8n with it. */
function reloadOnChange(n8n: N8n): void {
	let reloading = Promise.resolve();
	const reload = debounce(() => {
		reloading = reloading
			.then(async () => await step('Loading the change', async () => await n8n.reload()))
			.catch((error: unknown) => say(messageOf(error)));
	}, QUIET_MS);
	for (const folder of WATCHED) watch(path.join(ROOT, folder), { recursive: true }, reload);
}

runProgram(
	async () => await start(process.argv.slice(2)),
	async () => {
		await running?.close();
		say('Everything has stopped.');
	},
);
