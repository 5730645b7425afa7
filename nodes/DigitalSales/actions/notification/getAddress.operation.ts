import { NodeOperationError } from 'n8n-workflow';
import { formOf } from '../../form/formOf';
import { triggerAddresses } from '../../trigger/address';
import { hasUrlSecret } from '../../trigger/urlSecret';
import type { Operation } from '../operation';

const form = formOf([
	{
		displayName:
			'Gets the webhook URL of the published Digital Sales Trigger in this workflow, secret included. For charges of other workflows, copy it into the Notification URL of the credential.',
		name: 'addressNotice',
		type: 'notice',
		default: '',
	},
]);

/** Notification > Get Address: where the trigger of this workflow receives notifications. */
export const getAddressOperation: Operation = {
	name: 'Get Address',
	value: 'getAddress',
	action: "Get the trigger's webhook URL",
	description: "Get the webhook URL of this workflow's published trigger",
	form,
	creates: false,
	prepare({ context }, itemIndex) {
		const addresses = triggerAddresses(context.getWorkflowStaticData('global'));
		if (addresses.length === 0) {
			throw new NodeOperationError(
				context.getNode(),
				'This workflow has no published Digital Sales Trigger',
				{
					itemIndex,
					description: 'Add a Digital Sales Trigger to this workflow and publish the workflow.',
				},
			);
		}
		return {
			async send() {
				return addresses.map((url) => ({ json: { url, has_secret: hasUrlSecret(url) } }));
			},
		};
	},
};
