import type { IExecuteFunctions } from 'n8n-workflow';
import { CREDENTIAL_NAME } from '../../api';
import { parseWebAddress, unreachableHint } from '../../domain';
import { findTriggers, resumeUrl, type WorkflowTrigger } from '../../n8n';
import { NotSentError } from '../../output';
import type { Run } from '../run';
import type { ChargeForm } from './create.form';

interface NotificationAddress {
	/** Missing if nobody is notified. */
	url?: string;
	hint?: string;
}

const CHANGE = 'change Webhooks Go To';
const LOOP = `A Digital Sales Trigger started this execution and gets the webhooks of this charge, so each payment may charge again. Unless Trigger On or the filters exclude this charge, ${CHANGE}.`;
const CREDENTIAL_INSTEAD =
	'The Notification URL of the credential gets the webhooks of this charge, not the Digital Sales Trigger of this workflow.';
/** A suggestion, not a warning, because a first workflow has only this node. */
const NEXT_STEP =
	'To continue when the customer pays, add Wait for Payment after this node, in this workflow, or enter the URL of a published Digital Sales Trigger in the credential.';

/**
 * Decides where the webhooks of a new charge go (API document, Events 1).
 *
 * @throws NotSentError if the chosen address cannot be used
 */
export async function resolveNotificationAddress(
	run: Run,
	{ options }: ChargeForm,
): Promise<NotificationAddress> {
	const { webhooksGoTo, notificationUrl } = options;
	if (webhooksGoTo === 'none') return {};
	const triggers = findTriggers(run.context, CREDENTIAL_NAME);
	if (webhooksGoTo === 'automatic') return await automaticAddress(run, triggers);

	const address =
		webhooksGoTo === 'url'
			? checkAddress(notificationUrl, 'Notification URL')
			: await findListeningTrigger(run, triggers);
	if (address === undefined) {
		throw new NotSentError(
			'Webhooks Go To is set to Trigger of This Workflow, but this workflow has no published Digital Sales Trigger with the credential of this node',
			`Publish the workflow with such a trigger, or ${CHANGE}.`,
		);
	}

	// Only a warning, because Trigger On or a filter may exclude this charge.
	if (mayLoop(address.url, triggers)) return { ...address, hint: LOOP };
	return address;
}

/** Takes the Wait for Payment that follows, otherwise a trigger of the workflow, otherwise the credential's address. */
async function automaticAddress(
	run: Run,
	triggers: WorkflowTrigger[],
): Promise<NotificationAddress> {
	const { context, account } = run;
	if (isWaitedFor(context)) return { url: resumeUrl(context) };

	// The trigger that started this execution would charge again at each payment.
	const isStartedBySale = triggers.some(({ hasRun }) => hasRun);
	const ofTrigger = !isStartedBySale && (await findListeningTrigger(run, triggers));
	if (ofTrigger) return ofTrigger;

	const ofCredential = account.notificationUrl;
	if (ofCredential === undefined || mayLoop(ofCredential, triggers)) return { hint: NEXT_STEP };
	const address = checkAddress(ofCredential, 'Notification URL in the credential');
	if (address.hint !== undefined || triggers.length === 0) return address;
	return { ...address, hint: CREDENTIAL_INSTEAD };
}

/** The first published trigger with the credential of this node. */
async function findListeningTrigger(
	{ context, askIfListening }: Run,
	triggers: WorkflowTrigger[],
): Promise<NotificationAddress | undefined> {
	const own = context.getNode().credentials?.[CREDENTIAL_NAME];

	for (const { name, url, credentialId } of triggers) {
		if (!url || credentialId !== own?.id) continue;

		// n8n may publish a workflow without registering each of its triggers.
		const state = await askIfListening(url);
		if (state === 'yes') return { url, hint: unreachableHint(url) };
		if (state === 'unknown') {
			const hint = `n8n could not check whether "${name}" is published. If no sale arrives, correct the public address of n8n (N8N_WEBHOOK_URL).`;
			return { url, hint };
		}
	}

	return undefined;
}

function mayLoop(url = '', triggers: WorkflowTrigger[]): boolean {
	return triggers.some(({ hasRun }) => hasRun) && triggers.some(({ isAt }) => isAt(url));
}

/** Never true for an agent's tool, which has another node type. */
function isWaitedFor(context: IExecuteFunctions): boolean {
	const { name, type } = context.getNode();
	const following = context.getChildNodes(name, { includeNodeParameters: true });

	return following.some(
		(node) =>
			node.type === type && !node.disabled && node.parameters?.operation === 'waitForPayment',
	);
}

function checkAddress(url = '', name: string): NotificationAddress {
	if (parseWebAddress(url)) return { url, hint: unreachableHint(url) };

	const problem = 'must be a complete web address that starts with http:// or https://';
	throw new NotSentError(`${name} ${problem}`, `Correct it, or ${CHANGE}.`);
}
