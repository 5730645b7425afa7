import type { IExecuteFunctions } from 'n8n-workflow';
import type { Account } from '../../api/account';
import { isPrivateAddress, parseWebAddress } from '../../domain/webAddress';
import { mistake } from '../../form/readForm';
import { triggerAddresses } from '../../trigger/address';
import { resumeUrl } from '../../wait/suspendedWait';
import type { ChargeForm } from './create.form';

export interface NotificationAddress {
	url?: string;
	/** For the output panel. */
	hint?: string;
}

/**
 * Where a new transaction reports its updates to (API document, Events 1).
 *
 * @throws NodeOperationError if the chosen address does not exist or cannot be used
 */
export function notificationAddress(
	context: IExecuteFunctions,
	itemIndex: number,
	account: Account,
	form: Pick<ChargeForm, 'notify' | 'notificationUrl'>,
): NotificationAddress {
	const address = chosenAddress(context, itemIndex, account, form);
	const { url } = address;
	const mayLoop =
		url !== undefined &&
		followsTrigger(context) &&
		publishedTriggers(context).some((trigger) => isSameHook(trigger, url));
	// Only a warning, since Trigger On or a filter may exclude this charge.
	return mayLoop ? because(address, LOOP) : address;
}

const LOOP =
	'A Digital Sales Trigger comes before this node, and the webhooks go to a trigger of this workflow, so this charge may start it again and again. Unless Trigger On or the filters exclude this charge, change Notify.';

function chosenAddress(
	context: IExecuteFunctions,
	itemIndex: number,
	account: Account,
	{ notify, notificationUrl }: Pick<ChargeForm, 'notify' | 'notificationUrl'>,
): NotificationAddress {
	switch (notify) {
		case 'automatic':
			return automaticAddress(context, itemIndex, account);
		case 'none':
			return {};
		case 'credential':
			return credentialAddress(context, itemIndex, account);
		case 'trigger':
			return checked(context, itemIndex, publishedTriggers(context)[0], {
				missing:
					'Notify is set to Trigger of This Workflow, but the workflow has no published Digital Sales Trigger',
				advice:
					'Add a Digital Sales Trigger to this workflow and publish the workflow, or change Notify. If the trigger is already published, n8n runs in queue mode and hides it from its workers: run Notification > Get Address in the editor, paste the URL that it shows into the Notification URL of the credential, and set Notify to Address From the Credential.',
			});
		case 'thisExecution':
			return executionAddress(context, itemIndex);
		case 'url':
			return checked(context, itemIndex, notificationUrl, {
				missing: 'Notification URL is empty',
				advice: 'Enter the address that the service sends webhooks to, or change Notify.',
			});
	}
}

const NO_WAIT =
	'no Wait for Payment follows in this workflow (one in a sub-workflow does not count)';
const NO_TRIGGER = 'no published trigger was found in it';

/** The first that exists: a wait in this execution, the trigger, the address of the credential. */
function automaticAddress(
	context: IExecuteFunctions,
	itemIndex: number,
	account: Account,
): NotificationAddress {
	if (isWaitedFor(context)) {
		return because(
			withReach(resumeUrl(context, itemIndex)),
			'Webhooks go to this execution, because Wait for Payment follows.',
		);
	}
	const triggers = publishedTriggers(context);
	const [trigger] = triggers;
	if (followsTrigger(context)) return addressOfOthers(context, itemIndex, account, triggers);
	if (trigger !== undefined) {
		// The query has the secret of the trigger.
		const [shown] = trigger.split('?');
		return because(
			withReach(trigger),
			triggers.length === 1
				? `Webhooks go to the published trigger of this workflow, because ${NO_WAIT}.`
				: `Webhooks go to ${shown}, the first of the ${triggers.length} published triggers of this workflow, because ${NO_WAIT}. To notify another trigger, set Notify to Another Address; Notification > Get Address shows its URL.`,
		);
	}
	if (account.notificationUrl !== undefined) {
		return because(
			credentialAddress(context, itemIndex, account),
			`Webhooks go to the Notification URL of the credential, because ${NO_WAIT}, and ${NO_TRIGGER}.`,
		);
	}
	return {
		hint: `Nobody is notified, because ${NO_WAIT}, ${NO_TRIGGER}, and the credential has no Notification URL. Add Wait for Payment after this node, publish this workflow with a Digital Sales Trigger, or enter a Notification URL in the credential. If the trigger is already published, n8n runs in queue mode and hides it from its workers: run Notification > Get Address in the editor and paste the URL that it shows into the credential.`,
	};
}

/**
 * For a charge that a sale starts. Its own trigger would start it again without end once it is paid, also
 * if the credential names that trigger.
 */
function addressOfOthers(
	context: IExecuteFunctions,
	itemIndex: number,
	account: Account,
	triggers: string[],
): NotificationAddress {
	const why = `${NO_WAIT}, and a Digital Sales Trigger comes before this node, so each payment would charge again`;
	const { notificationUrl } = account;
	// Except in a test, the trigger that started this is published, so n8n hides it: nobody knows its URL.
	if (notificationUrl !== undefined && triggers.length === 0 && context.getMode() !== 'manual') {
		return {
			hint: `Nobody is notified, because ${why}. The published trigger was not found (in queue mode n8n hides it from its workers), so the Notification URL of the credential may lead to it. Add Wait for Payment after this node, or set Notify to Another Address.`,
		};
	}
	if (notificationUrl !== undefined && !triggers.some((url) => isSameHook(url, notificationUrl))) {
		return because(
			credentialAddress(context, itemIndex, account),
			`Webhooks go to the Notification URL of the credential, because ${why}.`,
		);
	}
	return {
		hint: `Nobody is notified, because ${why}. Add Wait for Payment after this node, or set Notify to Another Address.`,
	};
}

/** Whether two addresses lead to the same webhook; the query holds the secret. */
function isSameHook(one: string, other: string): boolean {
	return one.split('?')[0] === other.split('?')[0];
}

function because({ url, hint }: NotificationAddress, reason: string): NotificationAddress {
	return { url, hint: hint === undefined ? reason : `${reason} ${hint}` };
}

function executionAddress(context: IExecuteFunctions, itemIndex: number): NotificationAddress {
	const address = withReach(resumeUrl(context, itemIndex));
	if (isWaitedFor(context)) return address;
	return {
		...address,
		hint: 'Webhooks go to this execution, but nothing in it waits for them. Add Transaction > Wait for Payment after this node.',
	};
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

/** Whether a sale starts this node: its own charge, once paid, would start it again without end. */
function followsTrigger(context: IExecuteFunctions): boolean {
	const { name, type } = context.getNode();
	return context
		.getParentNodes(name)
		.some((node) => node.type === `${type}Trigger` && !node.disabled);
}

function publishedTriggers(context: IExecuteFunctions): string[] {
	return triggerAddresses(context.getWorkflowStaticData('global'));
}

function credentialAddress(
	context: IExecuteFunctions,
	itemIndex: number,
	{ notificationUrl }: Account,
): NotificationAddress {
	return checked(context, itemIndex, notificationUrl, {
		name: 'Notification URL in the credential',
		missing:
			'Notify is set to Address From the Credential, but the credential has no Notification URL',
		advice: 'Enter a Notification URL in the credential, or change Notify.',
	});
}

function checked(
	context: IExecuteFunctions,
	itemIndex: number,
	url: string | undefined,
	{
		name = 'Notification URL',
		missing,
		advice,
	}: { name?: string; missing: string; advice: string },
): NotificationAddress {
	if (url === undefined) throw mistake(context, itemIndex, missing, advice);
	if (parseWebAddress(url)) return withReach(url);
	const problem = 'must be a complete web address that starts with http:// or https://';
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
			hint: 'The Notification URL is a test URL, which listens only while the editor waits for a test event. For real sales, enter the URL that Notification > Get Address shows.',
		};
	}
	return { url };
}
