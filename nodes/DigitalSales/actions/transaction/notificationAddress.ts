import { compact } from 'lodash';
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
	/** Why no trigger can be notified. */
	missing?: string;
}

const CHANGE = 'change Webhooks Go To';
const STARTED_BY_SALE =
	'the Digital Sales Trigger that started this execution would charge again at each payment';
const LOOP = `A Digital Sales Trigger started this execution and gets the webhooks of this charge, so each payment may charge again. Unless Trigger On or the filters exclude this charge, ${CHANGE}.`;

/**
 * Decides where the webhooks of a new charge go (API document, Events 1).
 *
 * @throws NotSentError if the chosen address cannot be used
 */
export async function resolveNotificationAddress(
	run: Run,
	{ options }: ChargeForm,
): Promise<NotificationAddress> {
	const triggers = findTriggers(run.context, CREDENTIAL_NAME);
	if (options.webhooksGoTo === 'none') return {};
	if (options.webhooksGoTo === 'automatic') return await automaticAddress(run, triggers);

	if (options.webhooksGoTo === 'url') {
		const advice = `Enter the address that the platform sends webhooks to, or ${CHANGE}.`;
		const address = checkAddress(options.notificationUrl, 'Notification URL', advice);
		return withLoopWarning(address, triggers);
	}

	const found = await findListeningTrigger(run, triggers);
	if (found.missing === undefined) return withLoopWarning(found, triggers);
	throw new NotSentError(
		`Webhooks Go To is set to Trigger of This Workflow, but ${found.missing}`,
		`Correct that and publish the workflow, or ${CHANGE}.`,
	);
}

/** Only warns, because Trigger On or a filter may exclude this charge. */
function withLoopWarning(
	address: NotificationAddress,
	triggers: WorkflowTrigger[],
): NotificationAddress {
	if (!mayLoop(address.url, triggers)) return address;

	return { ...address, hint: LOOP };
}

/** Takes the Wait for Payment that follows, otherwise a trigger of the workflow, otherwise the credential's address. */
async function automaticAddress(
	run: Run,
	triggers: WorkflowTrigger[],
): Promise<NotificationAddress> {
	const { context, account } = run;
	const first = triggers.find(({ isDisabled }) => !isDisabled);
	if (isWaitedFor(context)) {
		const hint =
			first &&
			`"${first.name}" does not start for this charge, because Wait for Payment gets its webhooks.`;
		return { url: resumeUrl(context), hint };
	}

	const isStartedBySale = triggers.some(({ hasRun }) => hasRun);
	const found: NotificationAddress = isStartedBySale
		? { missing: STARTED_BY_SALE }
		: await findListeningTrigger(run, triggers);
	if (found.missing === undefined) return found;

	const ofCredential = account.notificationUrl;
	if (ofCredential === undefined || mayLoop(ofCredential, triggers)) {
		return { hint: nextStep(context, first && found.missing) };
	}
	const name = 'Notification URL in the credential';
	const address = checkAddress(ofCredential, name, `Correct it there, or ${CHANGE}.`);
	if (first === undefined || address.hint !== undefined) return address;

	const hint = `The Notification URL of the credential gets the webhooks of this charge, because ${found.missing}.`;
	return { ...address, hint };
}

async function findListeningTrigger(
	{ context, askIfListening }: Run,
	triggers: WorkflowTrigger[],
): Promise<NotificationAddress> {
	const enabled = triggers.filter(({ isDisabled }) => !isDisabled);
	const [first] = enabled;
	if (!first) return { missing: 'this workflow has no enabled Digital Sales Trigger' };

	const own = context.getNode().credentials?.[CREDENTIAL_NAME];
	const ofAccount = enabled.filter(({ credential }) => credential?.id === own?.id);
	if (ofAccount.length === 0) {
		const other = first.credential?.name ?? '';
		return {
			missing: `"${first.name}" uses the credential "${other}", and this node uses "${own?.name}"`,
		};
	}

	for (const { name, url } of ofAccount) {
		if (url === undefined) continue;
		// n8n may publish a workflow without registering each of its triggers.
		const state = await askIfListening(url);
		if (state === 'no') continue;

		const hints = compact([
			state === 'unknown' &&
				`n8n could not check whether "${name}" is published. If no sale arrives, correct the public address of n8n (N8N_WEBHOOK_URL).`,
			enabled.length > 1 &&
				`Of the ${enabled.length} triggers of this workflow, only "${name}" gets the webhooks of this charge.`,
			unreachableHint(url),
		]);
		return { url, hint: hints.join(' ') || undefined };
	}

	return { missing: 'its Digital Sales Trigger is not published' };
}

/** A suggestion, not a warning, because a first workflow has only this node. */
function nextStep(context: IExecuteFunctions, missing: string | undefined): string {
	const isList = context.getInputData().length > 1 && missing !== STARTED_BY_SALE;
	const steps = compact([
		isList && 'publish a Digital Sales Trigger in this workflow',
		'add Wait for Payment after this node, in this workflow',
	]);
	const next = `To continue when the customer pays, ${steps.join(', or ')}.`;
	if (missing === undefined) return next;

	return `${next} At present, ${missing}.`;
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

function checkAddress(url: string | undefined, name: string, advice: string): NotificationAddress {
	if (!url) throw new NotSentError(`${name} is empty`, advice);
	if (parseWebAddress(url)) return { url, hint: unreachableHint(url) };

	const problem = 'must be a complete web address that starts with http:// or https://';
	throw new NotSentError(`${name} ${problem}`, advice);
}
