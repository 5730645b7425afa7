import type { IExecuteFunctions } from 'n8n-workflow';
import { CREDENTIAL_NAME } from '../../api/account';
import { isPrivateAddress, parseWebAddress } from '../../domain/webAddress';
import { mistake } from '../../form/readForm';
import { askListening } from '../../n8n/listening';
import { resumeUrl } from '../../n8n/resumeUrl';
import { triggersOf, type WorkflowTrigger } from '../../n8n/workflowTriggers';
import type { Run } from '../run';
import type { ChargeForm } from './create.form';

export interface NotificationAddress {
	url?: string;
	/** For the output panel. */
	hint?: string;
}

const LOOP =
	'This execution was started by a Digital Sales Trigger, and the webhooks go to a trigger of this workflow, so this charge may start it again and again. Unless Trigger On or the filters exclude this charge, change Notify.';
const CUSTOM = 'Webhooks go to the webhook_url of Custom Fields, whatever Notify says.';
const UNCHECKED =
	'n8n could not check whether it is published. If no sale arrives, correct the public address of n8n (N8N_WEBHOOK_URL).';
const NO_WAIT =
	'no Wait for Payment follows in this workflow (one in a sub-workflow does not count)';

/**
 * Where a new transaction reports its updates to (API document, Events 1).
 *
 * @throws NodeOperationError if the chosen address does not exist or cannot be used
 */
export async function notificationAddress(
	run: Run,
	itemIndex: number,
	{ notify, notificationUrl, additionalFields: { customFields = {} } }: ChargeForm,
): Promise<NotificationAddress> {
	const isCustom = 'webhook_url' in customFields;
	if (notify === 'none' && !isCustom) return {};
	const triggers = triggersOf(run.context, CREDENTIAL_NAME);
	if (notify === 'automatic' && !isCustom) return await automaticAddress(run, itemIndex, triggers);
	const address = isCustom
		? because(customAddress(run, itemIndex, customFields.webhook_url), CUSTOM)
		: notify === 'url'
			? checked(
					run.context,
					itemIndex,
					notificationUrl,
					'Notification URL',
					'Enter the address that the service sends webhooks to, or change Notify.',
				)
			: await ownTriggerAddress(run, itemIndex, triggers);
	const { url = '' } = address;
	const mayLoop = triggers?.some(({ hasRun }) => hasRun) && triggers.some(({ isAt }) => isAt(url));
	// Only a warning, since Trigger On or a filter may exclude this charge.
	return mayLoop ? because(address, LOOP) : address;
}

function customAddress({ context }: Run, itemIndex: number, given: unknown): NotificationAddress {
	const url = typeof given === 'string' && given !== '' ? given : undefined;
	const name = 'Additional Fields > Custom Fields > webhook_url';
	return checked(context, itemIndex, url, name, 'Correct it, or leave it out and set Notify.');
}

/** The first that exists: a wait in this execution, a trigger of the workflow, the credential's address. */
async function automaticAddress(
	run: Run,
	itemIndex: number,
	triggers: WorkflowTrigger[] | undefined,
): Promise<NotificationAddress> {
	const { context } = run;
	const { notificationUrl } = run.account;
	if (isWaitedFor(context)) {
		const own = triggers?.find(({ isDisabled }) => !isDisabled);
		const untold = own ? `, not even "${own.name}" of this workflow` : '';
		return because(
			withReach(resumeUrl(context)),
			`Webhooks go to this execution, because Wait for Payment follows. No trigger is told of this charge${untold}.`,
		);
	}
	// Once paid, this charge would start the workflow again without end.
	const isStartedBySale = triggers?.some(({ hasRun }) => hasRun) === true;
	const found = isStartedBySale
		? {
				missing:
					'a Digital Sales Trigger started this execution, so each payment would charge again',
			}
		: await firstListening(run, triggers);
	if ('url' in found) {
		return because(found, `Webhooks go to ${found.name} of this workflow, because ${NO_WAIT}.`);
	}
	const why = `${NO_WAIT}, and ${found.missing}`;
	const leadsBack = isStartedBySale && triggers.some(({ isAt }) => isAt(notificationUrl ?? ''));
	if (notificationUrl !== undefined && !leadsBack) {
		const name = 'Notification URL in the credential';
		const address = checked(
			context,
			itemIndex,
			notificationUrl,
			name,
			'Correct it there, or change Notify.',
		);
		return because(address, `Webhooks go to the Notification URL of the credential: ${why}.`);
	}
	return {
		hint: leadsBack
			? `Nobody is notified: ${why}. Add Wait for Payment after this node, or set Notify to Another Address.`
			: `Nobody is notified: ${why}, and the credential has no Notification URL. Add Wait for Payment after this node, publish this workflow with a Digital Sales Trigger, or enter a Notification URL in the credential.`,
	};
}

async function ownTriggerAddress(
	run: Run,
	itemIndex: number,
	triggers: WorkflowTrigger[] | undefined,
): Promise<NotificationAddress> {
	const found = await firstListening(run, triggers);
	if ('url' in found) return found;
	throw mistake(
		run.context,
		itemIndex,
		`Notify is set to Trigger of This Workflow, but ${found.missing}`,
		'Correct that and publish the workflow, or change Notify.',
	);
}

/** The address of the first trigger that can take the notices of a charge in, or why there is none. */
async function firstListening(
	{ context, listening }: Run,
	triggers: WorkflowTrigger[] | undefined,
): Promise<(NotificationAddress & { url: string; name: string }) | { missing: string }> {
	if (!triggers) return { missing: 'n8n does not show this node the workflow' };
	const enabled = triggers.filter(({ isDisabled }) => !isDisabled);
	const [first] = enabled;
	if (!first) return { missing: 'the workflow has no Digital Sales Trigger that is enabled' };
	const own = context.getNode().credentials?.[CREDENTIAL_NAME];
	const ofAccount = enabled.filter(({ credential }) => credential?.id === own?.id);
	if (ofAccount.length === 0) {
		const other = first.credential?.name ?? '';
		return {
			missing: `"${first.name}" could not read this transaction: its credential is "${other}", and that of this node is "${own?.name}"`,
		};
	}
	for (const { name, url } of ofAccount) {
		if (url === undefined) continue;
		// Also in production: n8n publishes a workflow though it could not register one of its triggers.
		const asking = listening.get(url) ?? askListening(context, url);
		listening.set(url, asking);
		const state = await asking;
		if (state === 'no') continue;
		const shown = `"${name}"${enabled.length > 1 ? `, one of ${enabled.length} triggers` : ''}`;
		const { hint } = withReach(url);
		return state === 'yes'
			? { name: shown, url, hint }
			: { name: shown, ...because({ url, hint }, UNCHECKED), url };
	}
	return { missing: 'its Digital Sales Trigger is not published' };
}

function because({ url, hint }: NotificationAddress, reason: string): NotificationAddress {
	return { url, hint: hint === undefined ? reason : `${reason} ${hint}` };
}

/** Whether an enabled Wait for Payment follows. The tool of an agent is of another type and has none. */
function isWaitedFor(context: IExecuteFunctions): boolean {
	const { name, type } = context.getNode();
	return context
		.getChildNodes(name, { includeNodeParameters: true })
		.some(
			(node) =>
				node.type === type && !node.disabled && node.parameters?.operation === 'waitForPayment',
		);
}

function checked(
	context: IExecuteFunctions,
	itemIndex: number,
	url: string | undefined,
	name: string,
	advice: string,
): NotificationAddress {
	if (url !== undefined && parseWebAddress(url)) return withReach(url);
	const problem =
		url === undefined
			? 'is empty'
			: 'must be a complete web address that starts with http:// or https://';
	throw mistake(context, itemIndex, `${name} ${problem}`, advice);
}

/** An address, and who can reach it if the service may not. */
function withReach(url: string): NotificationAddress {
	const address = parseWebAddress(url);
	if (address && isPrivateAddress(address)) {
		return {
			url,
			hint: `Only this machine or its network can reach ${address.host}, so webhooks arrive only if the service runs there, too. Wait for Payment works without webhooks.`,
		};
	}
	if (address && /\/webhook-test\//.test(address.pathname)) {
		return {
			url,
			hint: 'The Notification URL is a test URL, which listens only while the editor waits for a test event. For real sales, enter the production URL of the trigger.',
		};
	}
	return { url };
}
