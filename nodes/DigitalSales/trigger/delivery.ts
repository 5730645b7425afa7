import type { IWebhookFunctions } from 'n8n-workflow';
import type { Account } from '../api/account';
import { accountOf } from '../notice/accountOf';
import { ANSWER_WITHIN_MS } from '../notice/verify';
import { clock } from '../shared/clock';
import { dedupeKey, type Emission } from './dedupe';
import { readTriggerForm, type TriggerForm } from './form';

/** One notice on its way through the trigger: what n8n and the form say about it, read once. */
export class Delivery {
	/** When the sender needs its answer, on `clock.elapsed()`. */
	readonly answerBy = clock.elapsed() + ANSWER_WITHIN_MS;
	readonly form: TriggerForm;
	/** Whether it came to the test URL, which is open for one notice only. */
	readonly isTest: boolean;
	/** Whether its URL must carry the secret. A test URL has none: its static data is not kept. */
	readonly isLocked: boolean;
	/** Tells this trigger from all others, and its tests from production. */
	readonly triggerKey: string;
	private loading?: Promise<Account>;

	constructor(readonly context: IWebhookFunctions) {
		const mode = context.getMode();
		this.form = readTriggerForm(context);
		this.isTest = mode === 'manual';
		this.isLocked = this.form.options.urlSecret && !this.isTest;
		this.triggerKey = `${context.getWorkflow().id} ${context.getNode().id} ${mode}`;
	}

	/** Whether the service is asked, or the notice believed. */
	get verifies(): boolean {
		return this.form.options.verify;
	}

	/** Reads the credential when first asked. */
	async account(): Promise<Account> {
		return await (this.loading ??= accountOf(this.context));
	}

	/**
	 * The key under which the process remembers what it handed over; undefined if it does not. A test
	 * in the editor may be repeated, and must not swallow the real notice.
	 */
	dedupeKey(emission: Emission): string | undefined {
		if (this.isTest || !this.form.options.deduplicate) return undefined;
		return `${this.triggerKey} ${dedupeKey(emission)}`;
	}
}
