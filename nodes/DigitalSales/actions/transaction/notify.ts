import type { IExecuteFunctions } from 'n8n-workflow';
import type { Account } from '../../api/account';
import { isPrivateAddress, parseWebAddress } from '../../domain/webAddress';
import { mistake } from '../../form/readForm';
import { triggerAddresses } from '../../trigger/address';
import { resumeUrl } from '../../wait/suspendedWait';
import type { CreateForm } from './createForm';

export interface NotificationAddress {
	url?: string;
	/** For the output panel. */
	hint?: string;
}

/**
 * Where a new transaction reports its updates to (API document, Events 1).
 *
 * @throws NodeOperationError if the chosen address does not exist
 */
export function notificationAddress(
	context: IExecuteFunctions,
	itemIndex: number,
	account: Account,
	{ notify, notificationUrl }: Pick<CreateForm, 'notify' | 'notificationUrl'>,
): NotificationAddress {
	switch (notify) {
		case 'none':
			return {};
		case 'credential':
			return checked(context, itemIndex, account.notificationUrl, {
				missing:
					'Notify is set to Address From the Credential, but the credential has no Notification URL',
				advice: 'Enter a Notification URL in the credential, or change Notify.',
			});
		case 'trigger':
			return checked(
				context,
				itemIndex,
				triggerAddresses(context.getWorkflowStaticData('global'))[0],
				{
					missing:
						'Notify is set to Trigger of This Workflow, but the workflow has no published Digital Sales Trigger',
					advice:
						'Add a Digital Sales Trigger to this workflow and publish the workflow, or change Notify. If the trigger is already published, n8n runs in queue mode and hides it from its workers: paste the production URL of the trigger into the Notification URL of the credential, and set Notify to Address From the Credential.',
				},
			);
		case 'thisExecution':
			return executionAddress(context, itemIndex);
		case 'url':
			return checked(context, itemIndex, notificationUrl, {
				missing: 'Notification URL is empty',
				advice: 'Enter the address that the service posts updates to, or change Notify.',
			});
	}
}

function executionAddress(context: IExecuteFunctions, itemIndex: number): NotificationAddress {
	const url = resumeUrl(context, itemIndex);
	const isHeard = context
		.getChildNodes(context.getNode().name, { includeNodeParameters: true })
		.some(({ disabled, parameters }) => !disabled && parameters?.operation === 'waitForPayment');
	return {
		url,
		hint: isHeard
			? reachability(new URL(url))
			: 'Notifications go to this execution, but nothing in it waits for them. Add Transaction > Wait for Payment after this node.',
	};
}

function checked(
	context: IExecuteFunctions,
	itemIndex: number,
	url: string | undefined,
	texts: { missing: string; advice: string },
): NotificationAddress {
	const { missing, advice } = texts;
	if (url === undefined) throw mistake(context, itemIndex, missing, advice);
	const address = parseWebAddress(url);
	if (!address) {
		throw mistake(
			context,
			itemIndex,
			'Notification URL must be a complete web address that starts with http:// or https://',
			advice,
		);
	}
	return { url, hint: reachability(address) };
}

function reachability(address: URL): string | undefined {
	if (isPrivateAddress(address)) {
		return `Notifications go to ${address.host}, which only this machine or its network can reach. The service can reach it only if it runs there, too.`;
	}
	if (/\/webhook-test\//.test(address.pathname)) {
		return 'Notifications go to a test URL, which listens only while the editor waits for a test event. Use the production URL for real sales.';
	}
	return undefined;
}
