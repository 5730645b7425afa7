import type { IDataObject, IHookFunctions } from 'n8n-workflow';
import { z } from 'zod';
import { CREDENTIAL_NAME, readAccount } from '../api/account';
import { readTriggerForm, wantsUrlSecret } from './form';
import {
	deriveUrlSecret,
	dropUrlSecret,
	storeUrlSecret,
	urlSecretOf,
	withUrlSecret,
} from './urlSecret';

const STATIC_DATA_KEY = 'digitalSalesTriggers';

const addresses = z.record(z.string()).catch({});

/** The production URLs of the published triggers of a workflow, in the order of publication. */
export function triggerAddresses(workflowData: IDataObject): string[] {
	return Object.values(addresses.parse(workflowData[STATIC_DATA_KEY]));
}

/** Whether the stored URL is the present one. */
export function isAnnounced(context: IHookFunctions): boolean {
	const known = addresses.parse(context.getWorkflowStaticData('global')[STATIC_DATA_KEY]);
	const url = context.getNodeWebhookUrl('default');
	const secret = urlSecretOf(context.getWorkflowStaticData('node'));
	if (url === undefined || wantsUrlSecret(context) !== (secret !== undefined)) return false;
	return known[context.getNode().id] === (secret === undefined ? url : withUrlSecret(url, secret));
}

/**
 * Stores the trigger's production URL, with its secret, in the workflow's static data, where the action
 * nodes of the workflow find it. A test URL is not stored: it closes soon.
 *
 * @throws NodeOperationError if a field cannot be read, while the user is there to fix it
 */
export async function announce(context: IHookFunctions): Promise<boolean> {
	readTriggerForm(context);
	const url = context.getNodeWebhookUrl('default');
	if (context.getMode() === 'manual' || url === undefined) return true;
	const address = await addressWithSecret(context, url);
	const workflowData = context.getWorkflowStaticData('global');
	workflowData[STATIC_DATA_KEY] = {
		...addresses.parse(workflowData[STATIC_DATA_KEY]),
		[context.getNode().id]: address,
	};
	return true;
}

async function addressWithSecret(context: IHookFunctions, url: string): Promise<string> {
	const nodeData = context.getWorkflowStaticData('node');
	if (!wantsUrlSecret(context)) {
		dropUrlSecret(nodeData);
		return url;
	}
	const secret =
		urlSecretOf(nodeData) ??
		deriveUrlSecret(context, readAccount(await context.getCredentials(CREDENTIAL_NAME)));
	storeUrlSecret(nodeData, secret);
	return withUrlSecret(url, secret);
}

/** Removes what {@link announce} stored. */
export function withdraw(context: IHookFunctions): boolean {
	const workflowData = context.getWorkflowStaticData('global');
	const { [context.getNode().id]: _withdrawn, ...others } = addresses.parse(
		workflowData[STATIC_DATA_KEY],
	);
	workflowData[STATIC_DATA_KEY] = others;
	return true;
}
