import { NodeOperationError } from 'n8n-workflow';
import { formOf } from '../../form/formOf';
import {
	askListening,
	triggersOf,
	type Listening,
	type WorkflowTrigger,
} from '../../trigger/address';
import type { Operation } from '../operation';

const form = formOf([
	{
		displayName:
			'Checks the triggers of this workflow: which URL each has, and whether it listens there. It is the URL that the trigger itself shows under Webhook URLs.',
		name: 'addressNotice',
		type: 'notice',
		default: '',
	},
]);

const ADVICE: Record<Listening, string | null> = {
	yes: null,
	no: 'Publish the workflow. If it is published already, unpublish it and publish it again.',
	unreachable:
		'n8n cannot reach its own URL to check it. If sales do not arrive either, correct the public address of n8n (N8N_WEBHOOK_URL).',
};

/** Notification > Get Address: where the triggers of this workflow receive notifications. */
export const getAddressOperation: Operation<WorkflowTrigger[]> = {
	name: 'Get Address',
	value: 'getAddress',
	action: "Check the trigger's webhook URL",
	description: "Check the webhook URL of this workflow's trigger, and whether it listens",
	form,
	creates: false,
	read({ context }, itemIndex) {
		const triggers = triggersOf(context);
		if (triggers?.length) return triggers;
		const [problem, description] = triggers
			? [
					'This workflow has no Digital Sales Trigger',
					'Add a Digital Sales Trigger to this workflow and publish the workflow.',
				]
			: [
					'n8n does not show the workflow here',
					'Open the Digital Sales Trigger and copy the production URL under Webhook URLs.',
				];
		throw new NodeOperationError(context.getNode(), problem, { itemIndex, description });
	},
	async send({ context }, _itemIndex, triggers) {
		const checks = triggers.map(async ({ name, isDisabled, url }) => {
			const listening = url === undefined ? 'no' : await askListening(context, url);
			const advice = isDisabled ? 'Enable the trigger and publish the workflow.' : null;
			const json = { trigger: name, url: url ?? null, listening };
			return { json: { ...json, advice: advice ?? ADVICE[listening] } };
		});
		return await Promise.all(checks);
	},
};
