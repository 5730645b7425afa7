import {
	addressOf,
	BY_HAND,
	cartOf,
	chainOf,
	createPix,
	END,
	type Running,
	trigger,
} from './workflows';

const NOT_PUBLISHED =
	'Webhooks Go To is set to Trigger of This Workflow, but this workflow has no published Digital Sales Trigger with the credential of this node';

/** Charges with both values of Webhooks Go To that can mean the trigger of the workflow. */
export async function expectTriggerNotifiedIfPublished(running: Running): Promise<void> {
	const { rest, sandbox, credential } = running;
	const url = addressOf(running, 'notified');
	const [automatic, chosen] = ['automatic', 'trigger'].map((webhooksGoTo) => ({
		...createPix({
			webhooksGoTo,
			cart: cartOf(sandbox),
			orderReference: `={{ "${webhooksGoTo} " + $execution.id }}`,
		}),
		name: webhooksGoTo,
	}));
	if (!automatic || !chosen) throw new Error('There are two choices');
	const path = [BY_HAND, automatic, chosen];
	const sale = [trigger('notified'), END];
	const saved = await rest.createWorkflow(chainOf('notified', credential, path, sale));
	const charge = async () => {
		const { length } = sandbox.transactions;
		const { error } = await rest.run(saved.id, BY_HAND.name);
		const made = sandbox.transactions.slice(length).map(({ postback_url }) => postback_url);
		return { error, made };
	};

	/** docs/troubleshooting.md quotes this text. */
	const inBrowser = async () => await (await fetch(url)).text();

	const unpublished = { error: NOT_PUBLISHED, made: [''] };
	expect(await charge()).toEqual(unpublished);
	expect(await inBrowser()).toMatch(/is not registered(?!.*Did you mean)/);
	await rest.publish(saved);
	expect(await inBrowser()).toContain('listens here for webhooks');
	expect(await charge()).toEqual({ error: undefined, made: [url, url] });
	await rest.unpublish(saved);
	expect(await charge()).toEqual(unpublished);
}
