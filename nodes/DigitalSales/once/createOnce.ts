import type { IDataObject } from 'n8n-workflow';
import type { Attempt } from '../api/attempt';
import { CanceledError, clock } from '../api/clock';
import { ServiceError } from '../api/serviceError';
import { nextCode, usedKey } from './code';
import { exclusively } from './exclusively';
import { isRetry } from './execution';
import type { ExecutionMemory } from './executionMemory';
import type { Identity } from './identity';
import { Ledger, LedgerError } from './ledger';
import { forget, recall, remember } from './processMemory';
import { changed, inDoubt, notRecorded, otherOrder, type Subject } from './refusals';

/** An agent that repeats a call does so soon; a customer who buys the same again comes later. */
const CALL_COUNTS_MS = 15 * 60_000;

/** Something to be made once, whoever asks again. */
export interface Creation extends Subject {
	identity: Identity;
	memory: ExecutionMemory;
	/** Codes with which the user allows what is in doubt to be made again. */
	codes: readonly string[];
	/** Makes it: sends the request. */
	create: () => Promise<IDataObject>;
	/** What is kept of it, to give it again. */
	keep: (made: IDataObject) => IDataObject;
	/** Gives again what was made before. */
	again: (kept: IDataObject) => Promise<IDataObject>;
	/** Whether it has come to nothing, so that its order may be made anew. */
	isVoid: (made: IDataObject) => boolean;
}

/** What was made, just now or before. */
export interface Created {
	json: IDataObject;
	isExisting: boolean;
}

/**
 * Makes something, unless it was made before: then that is given. Before anything is sent it is
 * entered in the memory of the process, the execution and n8n's database; only a provable refusal
 * takes it out again.
 *
 * @throws NodeOperationError when it may have been made before, or cannot be entered; nothing is sent
 * @throws ServiceError, CanceledError
 */
export async function createOnce(creation: Creation): Promise<Created> {
	const { identity, context } = creation;
	return await exclusively(
		keysOf(identity),
		async () => await new Making(creation).run(),
		context.getExecutionCancelSignal(),
	);
}

function keysOf({ place, order, fingerprint }: Identity): string[] {
	return [place, fingerprint, ...(order === undefined ? [] : [order])];
}

class Making {
	private readonly ledger: Ledger | undefined;
	/** The user has given the code, which counts once. */
	private isAllowed = false;

	constructor(private readonly creation: Creation) {
		this.ledger = Ledger.of(creation.context);
	}

	async run(): Promise<Created> {
		const existing = await this.existing();
		if (existing) return { json: existing, isExisting: true };
		await this.recorded(async () => await this.enter());
		return { json: await this.create(), isExisting: false };
	}

	/** What was made before, as far as this process and this execution know. */
	private async existing(): Promise<IDataObject | undefined> {
		const { identity, memory, again, isVoid } = this.creation;
		const here = memory.get(identity.place) ?? recall(identity.place);
		if (here?.state === 'made') {
			if (here.fingerprint !== identity.fingerprint) throw changed(this.creation, here);
			return await again(here.result ?? {});
		}
		const ordered = recallIf(identity.order);
		if (ordered && ordered.fingerprint !== identity.fingerprint) throw otherOrder(this.creation);
		const asked = ordered ?? recentCall(identity);
		if (asked?.state === 'made') {
			const made = await again(asked.result ?? {});
			if (!isVoid(made)) return made;
			await this.freeOrder();
		}
		const doubt = [here, ordered, recall(identity.fingerprint)].find(isInDoubt);
		if (doubt) await this.recorded(async () => await this.refuseUnlessAllowed(doubt));
		return undefined;
	}

	/** Enters in n8n's database what is about to be sent. */
	private async enter(): Promise<void> {
		const { ledger } = this;
		const { identity, context } = this.creation;
		if (!ledger) return;
		const keys = keysOf(identity);
		const seen = await ledger.enter(keys);
		// Only a Retry comes back to a place that neither the process nor the execution remembers.
		const earlier = [...seen].filter((key) => key !== identity.place || isRetry(context));
		if (earlier.length === 0) return;
		ledger.keep(earlier);
		try {
			await this.refuseUnlessAllowed();
		} catch (error) {
			await ledger.remove(keys.filter((key) => !seen.has(key)));
			throw error;
		}
	}

	/** Lets it pass once where the user has given its code. */
	private async refuseUnlessAllowed(earlier?: Attempt): Promise<void> {
		if (this.isAllowed) return;
		const { creation, ledger } = this;
		const { identity, codes } = creation;
		const code = await nextCode(identity, ledger);
		if (!codes.includes(code)) throw inDoubt(creation, code, earlier);
		const used = usedKey(code);
		await ledger?.enter([used]);
		remember([used], this.attempt('inDoubt'));
		this.isAllowed = true;
	}

	private async create(): Promise<IDataObject> {
		const { creation, ledger } = this;
		const { identity, memory, itemIndex: item } = creation;
		const spot = { run: memory.run(), item };
		const attempt = this.attempt('inDoubt');
		memory.set(identity.place, spot, attempt);
		remember([...this.lastingKeys(), identity.fingerprint], attempt);
		const made = await creation.create().catch(async (error: unknown) => {
			if (isProvablyNotMade(error)) await this.withdraw();
			else ledger?.keep(keysOf(identity));
			throw error;
		});
		const settled = { ...this.attempt('made'), result: creation.keep(made) };
		memory.set(identity.place, spot, settled);
		remember(this.lastingKeys(), settled);
		forget([identity.fingerprint]);
		await this.strike([identity.fingerprint]);
		if (creation.isVoid(made)) await this.freeOrder();
		return made;
	}

	private async withdraw(): Promise<void> {
		const { identity, memory } = this.creation;
		memory.delete(identity.place);
		forget([...this.lastingKeys(), identity.fingerprint]);
		await this.strike(keysOf(identity));
	}

	/** The order came to nothing, so the reference may be used for the next try. */
	private async freeOrder(): Promise<void> {
		const { order, call } = this.creation.identity;
		forget([order ?? '', call ?? '']);
		if (order !== undefined) await this.strike([order]);
	}

	/** Takes entries out of n8n's database. What stays there can only refuse, so a failure is no error. */
	private async strike(keys: string[]): Promise<void> {
		try {
			await this.ledger?.remove(keys);
		} catch {
			this.creation.context.logger.warn(
				"An entry could not be removed from n8n's table of processed items. The same charge may be refused later until its code is given.",
			);
		}
	}

	/** The names under which it is still known when its outcome is. */
	private lastingKeys(): string[] {
		const { place, order, call } = this.creation.identity;
		return [place, ...(order === undefined ? [] : [order]), ...(call === undefined ? [] : [call])];
	}

	private attempt(state: Attempt['state']): Attempt {
		const { identity, amount } = this.creation;
		return {
			state,
			fingerprint: identity.fingerprint,
			startedAt: clock.now(),
			...(amount === undefined ? {} : { amount }),
		};
	}

	private async recorded<T>(task: () => Promise<T>): Promise<T> {
		try {
			return await task();
		} catch (error) {
			if (error instanceof LedgerError) throw notRecorded(this.creation, error.message);
			throw error;
		}
	}
}

function isInDoubt(attempt: Attempt | undefined): boolean {
	return attempt?.state === 'inDoubt';
}

function recallIf(key: string | undefined): Attempt | undefined {
	return key === undefined ? undefined : recall(key);
}

function recentCall({ call }: Identity): Attempt | undefined {
	const known = recallIf(call);
	return known && clock.now() - known.startedAt < CALL_COUNTS_MS ? known : undefined;
}

/** Anything unforeseen after the request may have left leaves the outcome in doubt. */
function isProvablyNotMade(error: unknown): boolean {
	if (error instanceof CanceledError) return true;
	return error instanceof ServiceError && !error.facts.outcomeUnknown;
}
