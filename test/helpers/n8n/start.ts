import { RECIPES } from '../../../examples/source';
import { render } from '../../../examples/source/workflow';
import { installHost } from './host';
import { NODES } from './journey';
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

async function start(): Promise<void> {
	say('Digital Sales: a real n8n, and a local sandbox that simulates the service\n');
	await installHost();
	const ready = await setUp('start', {
		sandbox: { port: await freePort(SANDBOX_PORT) },
		port: N8N_PORT,
		step,
	});
	const { n8n } = ready;
	onEnd(async () => {
		await n8n.close();
		say('Everything has stopped.');
	});
	await step('Recipes, as drafts to complete', async () => {
		for (const [name, recipe] of Object.entries(RECIPES)) {
			await ready.rest.createWorkflow(render(recipe, name, 'en'));
		}
	});
	introduce(ready);
	const lastWords = await new Promise<string>((resolve) => {
		n8n.main.onDeath = resolve;
	});
	await n8n.close();
	throw new Error(`n8n stopped unexpectedly.\n${lastWords}\n(all of it: ${n8n.main.log})`);
}

start().catch((error: unknown) => {
	leave(1, `\n${messageOf(error)}`);
});
