import type { IDataObject, INodeParameters } from 'n8n-workflow';
import type { SandboxOptions } from '../sandbox';
import { chargeAt } from './charge';
import {
	type HttpAnswer,
	type PublishedTrigger,
	serveWebhook,
	type TriggerOptions,
} from './engine';
import { type Account, pixParameters, useAccount } from './account';

/**
 * Opens an inbox for the tests of a block: an account, and triggers that take its notices. After each
 * test no webhook may have thrown.
 */
export function useInbox(options: SandboxOptions = {}): Inbox {
	// First, while time still lapses for what has not ended.
	afterEach(async () => {
		const thrown = await inbox.close();
		expect(thrown).toEqual([]);
	});
	const inbox = new Inbox(useAccount(options));
	return inbox;
}

/** An account, and published triggers that take its notices. */
class Inbox {
	private readonly published: PublishedTrigger[] = [];

	constructor(readonly account: Account) {}

	/** The trigger that was published last. */
	get trigger(): PublishedTrigger {
		const trigger = this.published.at(-1);
		if (!trigger) throw new Error('No trigger is published');
		return trigger;
	}

	/** Publishes a workflow with a trigger: by default for any status. */
	async publish(
		parameters: INodeParameters = { triggerOn: ['any'] },
		more: TriggerOptions = {},
	): Promise<PublishedTrigger> {
		const { credentials } = this.account;
		return this.add(await serveWebhook({ credentials, parameters, ...more }));
	}

	/** Takes in a trigger that the test has published itself. */
	add(trigger: PublishedTrigger): PublishedTrigger {
		this.published.push(trigger);
		return trigger;
	}

	/** The items that the trigger put out, the first of each execution. */
	get items(): IDataObject[] {
		return this.trigger.executions.map(([item]) => item?.json ?? {});
	}

	/** Charges a customer at the service, without this process knowing of it. */
	async charge(): Promise<string> {
		return await chargeAt(this.account.sandbox);
	}

	/** Charges a customer with the action node. */
	async chargeHere(more: INodeParameters = {}): Promise<string> {
		await this.account.run(pixParameters(this.account.sandbox, more));
		return this.account.sandbox.transactions.at(-1)?.hash ?? '';
	}

	/** How often the service was asked for a transaction. */
	get reads(): number {
		return this.account.reads();
	}

	/** Posts a notice, and leaves without its answer as soon as `until` resolves. */
	async postAndLeave(body: object, until: () => Promise<unknown>): Promise<void> {
		const leaving = new AbortController();
		const call = fetch(this.trigger.url, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify(body),
			signal: leaving.signal,
		}).catch(() => undefined);
		await until();
		leaving.abort();
		await call;
	}

	/** Has n8n store no execution of the trigger until it is told to. */
	holdStoring(): { begun: () => Promise<void>; release: () => void } {
		const { trigger } = this;
		let release = (): void => undefined;
		trigger.storing = new Promise((resolve) => (release = resolve));
		return {
			begun: async () => {
				while (trigger.held === 0) await new Promise((resolve) => setTimeout(resolve, 5));
			},
			release: () => {
				release();
				trigger.storing = undefined;
			},
		};
	}

	/** Ends the triggers of a test, and gives what their webhooks have thrown. */
	async close(): Promise<Error[]> {
		const triggers = this.published.splice(0);
		for (const trigger of triggers) {
			await trigger.settled();
			trigger.stopListening();
		}
		return triggers.flatMap(({ thrown }) => thrown);
	}
}

/** How many answers there were of each status. */
export function counts(answers: HttpAnswer[]): Record<number, number> {
	return answers.reduce<Record<number, number>>(
		(sums, { status }) => ({ ...sums, [status]: (sums[status] ?? 0) + 1 }),
		{},
	);
}

/** A hash as the form holds it. */
export const locator = (value: string): INodeParameters => ({ __rl: true, mode: 'hash', value });
/** The field Products of the trigger. */
export const products = (...hashes: string[]): INodeParameters => ({
	products: { items: hashes.map((hash) => ({ product: locator(hash) })) },
});
/** The field Offers of the trigger. */
export const offers = (...hashes: string[]): INodeParameters => ({
	offers: { items: hashes.map((hash) => ({ offer: locator(hash) })) },
});
