import { rm } from 'node:fs/promises';
import path from 'node:path';
import { installHost, withLock } from './host';
import { NODES } from './journey';
import { DATA_FOLDER } from './paths';
import { freePort, leave, onEnd } from './processes';
import { DEMO_LOGIN } from './rest';
import { setUp, type SetUp } from './setUp';
import { messageOf, say, step } from './terminal';

const SANDBOX_PORT = 4010;
const N8N_PORT = 5678;

function introduce(ready: SetUp): void {
	const { workflow } = ready.journey;
	say(`
  Editor      ${ready.n8n.url}
  Sign in     ${DEMO_LOGIN.email}
  Password    ${DEMO_LOGIN.password}
  Sandbox     ${ready.sandbox.pageUrl}

What to try
  1. In the editor, open "${workflow.name}".
     Next to "Execute workflow" choose "${NODES.start}", then press it: it lists the catalog,
     creates an offer, and charges a made-up customer by PIX.
  2. On the sandbox page, pay the new transaction.
  3. In the editor, open Executions: "${NODES.trigger}" has run with the paid transaction.

Ctrl-C stops everything.`);
}

async function start(keep: boolean): Promise<void> {
	say('Digital Sales: a real n8n, and a local sandbox that simulates the service\n');
	await installHost();
	const userFolder = path.join(DATA_FOLDER, 'start');
	if (!keep) await rm(userFolder, { recursive: true, force: true });
	const ready = await setUp('start', {
		userFolder,
		sandbox: { port: await freePort(SANDBOX_PORT) },
		port: N8N_PORT,
		withRecipes: true,
		step,
	});
	const { n8n } = ready;
	onEnd(async () => {
		await n8n.close();
		say('Everything has stopped.');
	});
	introduce(ready);
	const lastWords = await n8n.process.died;
	await n8n.close();
	throw new Error(`n8n stopped unexpectedly.\n${lastWords}\n(all of it: ${n8n.process.log})`);
}

withLock(
	path.join(DATA_FOLDER, 'start.lock'),
	async () => await start(process.argv.includes('--keep')),
	() => {
		throw new Error('Another "npm start" is already running with the same data.');
	},
).catch((error: unknown) => {
	leave(1, `\n${messageOf(error)}`);
});
