import type { IDataObject } from 'n8n-workflow';
import type { Attempt } from './attempt';
import { CanceledError, clock } from '../shared/clock';
import type { Account } from '../api/account';
import { ServiceError } from '../api/outcome';
import { nextChance, typedCodes } from './code';
import { exclusively } from '../shared/exclusively';
import { isRetry } from './execution';
import type { ExecutionMemory } from './executionMemory';
import { identify, type Identity, type Wanted } from './identity';
import { Ledger, LedgerError } from './ledger';
import { forget, recall, remember } from './processMemory';
import {
	changed,
	inDoubt,
	notRecorded,
	otherAccount,
	otherOrder,
	unreadable,
	type Subject,
} from './refusals';

/** An agent that repeats a call does so soon; a customer who buys the same again comes later. */
const CALL_COUNTS_MS = 15 * 60_000;

/** Something to be made once, whoever asks again. */
export interface Creation<T> extends Subject, Wanted {
	account: Account;
	memory: ExecutionMemory;
	/** What the user typed to allow what is in doubt to be made again. */
	repeatCode?: string;
	/** Makes it: sends the request. */
	create: () => Promise<T>;
	/** What is kept of it, to give it again. */
	keep: (made: T) => IDataObject;
	/** Gives again what was made before. */
	again: (kept: IDataObject) => Promise<T>;
	/** Whether it has come to nothing, so that its order may be made anew. */
	isVoid: (made: T) => boolean;
}

/** What was made, just now or before. */
export interface Created<T> {
	made: T;
	isExisting: boolean;
}

/**
 * Makes something, unless it was made before: then that is given. Before anything is sent it is
 * entered in the memory of the process, the execution and n8n's database; only a provable refusal
 * takes it out again.
 *
 * @throws Refusal when it may have been made before, or cannot be entered; nothing is sent
 * @throws ServiceError, CanceledError
 */
export async function createOnce<T>(creation: Creation<T>): Promise<Created<T>> {
	const { context, account, memory } = creation;
	const identity = identify(context, account, memory, creation);
	return await exclusively(
		keysOf(identity),
		async () => await new Making(creation, identity).run(),
		context.getExecutionCancelSignal(),
	);
}

function keysOf({ place, share, doubt, order }: Identity): string[] {
	return [place, share, doubt, ...(order === undefined ? [] : [order])];
}

/** The names under which it is still known when its outcome is. */
function lastingKeysOf({ place, share, order, call }: Identity): string[] {
	return [place, share, order ?? '', call ?? ''].filter((key) => key !== '');
}

class Making<T> {
	private readonly ledger: Ledger | undefined;
	/** How often the user has allowed it with a code, this time included. */
	private allowed = 0;
	private isAllowed = false;

	constructor(
		private readonly creation: Creation<T>,
		private readonly identity: Identity,
	) {
		this.ledger = Ledger.of(creation.context);
	}

	async run(): Promise<Created<T>> {
		const existing = await this.existing();
		if (existing) return { made: existing, isExisting: true };
		await this.recorded(async () => await this.enter());
		return { made: await this.create(), isExisting: false };
	}

	/** What was made before, as far as this process and this execution know. */
	private async existing(): Promise<T | undefined> {
		const { creation, identity } = this;
		const { order, doubt } = identity;
		const here = this.atThisPlace();
		if (here?.state === 'made') return await this.madeHere(here);
		const ordered = recallIf(order);
		const isOther = ordered !== undefined && ordered.fingerprint !== creation.fingerprint;
		if (isOther && ordered.state === 'inDoubt') throw otherOrder(creation);
		const known = ordered ?? recentCall(identity);
		if (known?.state === 'made') {
			const made = await this.again(known, isOther);
			if (!creation.isVoid(made)) {
				if (isOther) throw otherOrder(creation);
				return made;
			}
			await this.recorded(async () => await this.freeOrder(known));
		}
		const unknown = [here, ordered, recall(doubt)].find((attempt) => attempt?.state === 'inDoubt');
		if (unknown) await this.recorded(async () => await this.refuseUnlessAllowed(unknown));
		return undefined;
	}

	/** Only a Retry comes back to a place that the execution itself does not remember. */
	private atThisPlace(): Attempt | undefined {
		const { identity } = this;
		const { context, memory } = this.creation;
		const known = [memory.get(identity.spot)];
		if (isRetry(context)) known.push(recall(identity.place), recall(identity.share));
		return known.find((attempt) => attempt?.state === 'made') ?? known.find(Boolean);
	}

	private async madeHere(here: Attempt): Promise<T> {
		const { creation } = this;
		const isSameAccount = here.account === creation.account.key;
		if (here.fingerprint !== creation.fingerprint) {
			throw isSameAccount ? changed(creation, here) : otherAccount(creation);
		}
		if (isSameAccount) return await this.again(here);
		// With another token it may be the same account all the same: then it can be read.
		const read = creation.kind === 'charge' ? creation.again(here.result ?? {}) : Promise.reject();
		return await read.catch(() => {
			throw otherAccount(creation);
		});
	}

	/** @param isOther whether it is of another order, of which nothing may be shown */
	private async again({ result = {} }: Attempt, isOther = false): Promise<T> {
		const { creation } = this;
		return await creation.again(result).catch((error: unknown) => {
			if (!(error instanceof ServiceError)) throw error;
			throw isOther
				? otherOrder(creation)
				: unreadable(creation, String(result.hash), error.outcome);
		});
	}

	/** Enters in n8n's database what is about to be sent. */
	private async enter(): Promise<void> {
		const { ledger, identity } = this;
		const { context } = this.creation;
		if (!ledger) return;
		const keys = keysOf(identity);
		const seen = await ledger.enter(keys);
		const isPlace = (key: string): boolean => [identity.place, identity.share].includes(key);
		const earlier = [...seen].filter((key) => !isPlace(key) || isRetry(context));
		if (earlier.length === 0) return;
		ledger.keep(earlier);
		await this.refuseUnlessAllowed().catch(async (error: unknown) => {
			await ledger.strike(keys.filter((key) => !seen.has(key)));
			throw error;
		});
	}

	/** Lets it pass once if the user has given its code. */
	private async refuseUnlessAllowed(earlier?: Attempt): Promise<void> {
		if (this.isAllowed) return;
		const { creation, identity, ledger } = this;
		const { turn, used, code, codes } = await nextChance(identity, ledger);
		const isGiven = typedCodes(creation.repeatCode).some((given) => codes.includes(given));
		if (!isGiven || (await ledger?.enter([used]))?.has(used)) {
			throw inDoubt(creation, code, earlier);
		}
		ledger?.keep([used]);
		remember([used], this.attempt('inDoubt'));
		this.isAllowed = true;
		this.allowed = turn + 1;
	}

	private async create(): Promise<T> {
		const { creation, identity, ledger } = this;
		const { memory, itemIndex: item } = creation;
		const where = { run: memory.run(), item };
		const attempt = this.attempt('inDoubt');
		memory.set(identity.spot, where, attempt);
		remember([...lastingKeysOf(identity), identity.doubt], attempt);
		const made = await creation.create().catch(async (error: unknown) => {
			if (isProvablyNotMade(error)) await this.withdraw();
			else await this.leaveInDoubt();
			throw error;
		});
		const settled = { ...this.attempt('made'), result: creation.keep(made) };
		memory.set(identity.spot, where, settled);
		remember(lastingKeysOf(identity), settled);
		forget([identity.doubt]);
		const { order } = identity;
		const freed = order !== undefined && creation.isVoid(made) ? [order] : [];
		forget(freed);
		const over = [identity.doubt, ...freed];
		await ledger?.settle(
			over,
			keysOf(identity).filter((key) => !over.includes(key)),
		);
		return made;
	}

	private async leaveInDoubt(): Promise<void> {
		const keys = keysOf(this.identity);
		this.ledger?.keep(keys);
		await this.ledger?.settle([], keys);
	}

	private async withdraw(): Promise<void> {
		const { identity } = this;
		this.creation.memory.delete(identity.spot);
		forget([...lastingKeysOf(identity), identity.doubt]);
		await this.ledger?.strike(keysOf(identity));
	}

	/** The order came to nothing, so it may be made anew; unless another process has done so by a code. */
	private async freeOrder(known: Attempt): Promise<void> {
		const { identity, ledger } = this;
		const { order = '', call = '' } = identity;
		const { turn } = await nextChance(identity, ledger);
		if (turn !== known.allowed) {
			await this.refuseUnlessAllowed();
			return;
		}
		this.allowed = turn;
		forget([order, call].filter((key) => recall(key) === known));
		if (order !== '') await ledger?.strike([order]);
	}

	private attempt(state: Attempt['state']): Attempt {
		const { account, fingerprint, amount } = this.creation;
		return {
			state,
			account: account.key,
			fingerprint,
			startedAt: clock.now(),
			allowed: this.allowed,
			...(amount === undefined ? {} : { amount }),
		};
	}

	private async recorded<R>(task: () => Promise<R>): Promise<R> {
		return await task().catch((error: unknown) => {
			if (error instanceof LedgerError) throw notRecorded(this.creation, error.message);
			throw error;
		});
	}
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
	return error instanceof ServiceError && !error.outcomeUnknown;
}
