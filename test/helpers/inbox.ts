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

/** Opens an inbox for the tests of a block. A test fails if the trigger's `webhook` method throws. */
export function useInbox(options: SandboxOptions = {}): Inbox {
	// Jest runs this before the `afterEach` of `useTimeLapse`, which restores real time.
	afterEach(async () => {
		const thrown = await inbox.close();
		expect(thrown).toEqual([]);
	});
	const inbox = new Inbox(useAccount(options));
	return inbox;
}

/** An account, and published triggers that receive its webhooks. */
class Inbox {
	private readonly published: PublishedTrigger[] = [];

	constructor(readonly account: Account) {}

	/** The trigger that was published last. */
	get trigger(): PublishedTrigger {
		const trigger = this.published.at(-1);
		if (!trigger) throw new Error('No trigger is published');
		return trigger;
	}

	/** Publishes a workflow with a trigger, by default for any status. */
	async publish(
		parameters: INodeParameters = { triggerOn: ['any'] },
		more: TriggerOptions = {},
	): Promise<PublishedTrigger> {
		const { credentials } = this.account;
		return this.add(await serveWebhook({ credentials, parameters, ...more }));
	}

	/** Adds a trigger that the test has published itself. */
	add(trigger: PublishedTrigger): PublishedTrigger {
		this.published.push(trigger);
		return trigger;
	}

	/** The first item of each execution. */
	get items(): IDataObject[] {
		return this.trigger.emitted.map(([item]) => item?.json ?? {});
	}

	/** Charges a customer without the node, so that the process does not know the charge. */
	async charge(): Promise<string> {
		return await chargeAt(this.account.sandbox);
	}

	/** Charges a customer with the action node. */
	async chargeHere(more: INodeParameters = {}): Promise<string> {
		await this.account.run(pixParameters(this.account.sandbox, more));
		return this.account.sandbox.transactions.at(-1)?.hash ?? '';
	}

	/** Publishes a trigger, and charges a customer without the node. Reads show this status. */
	async begin(
		parameters: INodeParameters,
		status = 'waiting_payment',
		more: TriggerOptions = {},
	): Promise<string> {
		await this.publish(parameters, more);
		const hash = await this.charge();
		await this.account.sandbox.setStatus(hash, status);
		return hash;
	}

	/** Reads show the status from then on. */
	show(hash: string, status: string, afterMs: number): void {
		setTimeout(() => void this.account.sandbox.setStatus(hash, status), afterMs);
	}

	/** Posts a webhook, and returns the status of the answer. */
	async post(hash: string, status?: string): Promise<number> {
		return (await this.trigger.post({ hash, status })).status;
	}

	/** The status of each item. */
	get statuses(): unknown[] {
		return this.items.map(({ payment_status: status }) => status);
	}

	/** How often a transaction was read. */
	get reads(): number {
		return this.account.reads();
	}

	/** Posts a webhook, and closes the connection as soon as `until` resolves. */
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

	/** Stops n8n from storing executions until `release`. `begun` resolves when n8n tries to store one. */
	holdStoring(): { begun: () => Promise<void>; release: () => void } {
		const { trigger } = this;
		let release = (): void => undefined;
		trigger.storing = new Promise((resolve) => (release = resolve));
		return {
			begun: async () => {
				while (trigger.storesBegun === 0) await new Promise((resolve) => setTimeout(resolve, 5));
			},
			release: () => {
				release();
				trigger.storing = undefined;
			},
		};
	}

	/** Unpublishes all triggers, and returns the errors that their `webhook` methods threw. */
	async close(): Promise<Error[]> {
		const triggers = this.published.splice(0);
		for (const trigger of triggers) {
			await trigger.settled();
			trigger.stopListening();
		}
		return triggers.flatMap(({ thrown }) => thrown);
	}
}

/** Counts the answers by status. */
export function countByStatus(answers: HttpAnswer[]): Record<number, number> {
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
	filters: { offers: { items: hashes.map((hash) => ({ offer: locator(hash) })) } },
});
