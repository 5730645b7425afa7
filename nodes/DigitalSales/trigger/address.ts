import type { IDataObject, IHookFunctions } from 'n8n-workflow';
import { z } from 'zod';
import { CREDENTIAL_NAME, readAccount } from '../api/account';
import { readWanted, wantsUrlSecret } from './form';
import { dropUrlSecret, keepUrlSecret, urlSecretOf, withUrlSecret } from './urlSecret';

const STATIC_DATA_KEY = 'digitalSalesTriggers';

const addresses = z.record(z.string()).catch({});

/** The production URLs of the published triggers of a workflow, in the order of publication. */
export function triggerAddresses(workflowData: IDataObject): string[] {
	return Object.values(addresses.parse(workflowData[STATIC_DATA_KEY]));
}

/** Whether the action nodes of the workflow already find the trigger under its present URL. */
export function isAnnounced(context: IHookFunctions): boolean {
	const known = addresses.parse(context.getWorkflowStaticData('global')[STATIC_DATA_KEY]);
	const url = context.getNodeWebhookUrl('default');
	const secret = urlSecretOf(context.getWorkflowStaticData('node'));
	if (url === undefined || wantsUrlSecret(context) !== (secret !== undefined)) return false;
	return known[context.getNode().id] === (secret === undefined ? url : withUrlSecret(url, secret));
}

/**
 * Leaves the trigger's production URL, its secret included, where the action nodes of the same
 * workflow find it. Nothing public finds a trigger across workflows; for those the credential carries
 * the URL. While the editor listens for a test event nothing is left: a real sale must not report to
 * a URL that closes soon.
 *
 * @throws NodeOperationError where Trigger On or a filter cannot be read: nobody could tell it to the person later
 */
export async function announce(context: IHookFunctions): Promise<boolean> {
	readWanted(context);
	const url = context.getNodeWebhookUrl('default');
	if (context.getMode() === 'manual' || url === undefined) return true;
	const address = await lockedAddress(context, url);
	const workflowData = context.getWorkflowStaticData('global');
	workflowData[STATIC_DATA_KEY] = {
		...addresses.parse(workflowData[STATIC_DATA_KEY]),
		[context.getNode().id]: address,
	};
	return true;
}

async function lockedAddress(context: IHookFunctions, url: string): Promise<string> {
	const nodeData = context.getWorkflowStaticData('node');
	if (wantsUrlSecret(context)) {
		const secret = await keepUrlSecret(nodeData, async () => ({
			account: readAccount(await context.getCredentials(CREDENTIAL_NAME)),
			workflowId: context.getWorkflow().id,
			nodeId: context.getNode().id,
		}));
		return withUrlSecret(url, secret);
	}
	dropUrlSecret(nodeData);
	return url;
}

/** Takes back what {@link announce} left. */
export function withdraw(context: IHookFunctions): boolean {
	const workflowData = context.getWorkflowStaticData('global');
	const { [context.getNode().id]: _withdrawn, ...others } = addresses.parse(
		workflowData[STATIC_DATA_KEY],
	);
	workflowData[STATIC_DATA_KEY] = others;
	return true;
}
