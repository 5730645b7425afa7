import type { IDataObject } from 'n8n-workflow';
import { ServiceError } from '../api/outcome';
import { CanceledError, clock } from '../shared/clock';
import { exclusively, hold } from '../shared/exclusively';
import { forget, recall, remember, type Attempt } from './attempts';
import { nextCode, typedCodes } from './code';
import { isRetry } from './execution';
import { identify, lastingKeys, ledgerKeys, type Identity, type Identifiable } from './identity';
import { Ledger, LedgerError } from './ledger';
import {
	changed,
	inDoubt,
	notRecorded,
	otherAccount,
	otherOrder,
	unreadable,
	type Subject,
} from './refusals';

/** An agent repeats a call soon; a customer who buys the same again comes later. */
const CALL_COUNTS_MS = 15 * 60_000;

/** Something to be made only once, however often it is asked for. */
export interface Creation<T> extends Subject, Identifiable {
	/** Cancels waiting for its turn. */
	signal: AbortSignal;
	/** Runs what decides whether it may be sent, after the decisions on the items before it. */
	inTurn: <R>(decide: () => Promise<R>) => Promise<R>;
	/** The codes that the user typed to allow something in doubt to be made again. */
	repeatCode?: string;
	/** Makes it: sends the request. */
	create: () => Promise<T>;
	/** What is stored of it, to return it again. */
	keep: (made: T) => IDataObject;
	/** Returns what was made before. */
	again: (kept: IDataObject) => Promise<T>;
	/** Whether it has failed for good, such as an expired charge, so that its order is free again. */
	isVoid: (made: T) => boolean;
}

/** What was made, just now or before. */
export interface Created<T> {
	made: T;
	isExisting: boolean;
}

/**
 * Makes something, or returns what was made before. Before anything is sent, the attempt is recorded in
 * the process, the execution and n8n's database; only a provable refusal takes it out again.
 *
 * @throws Refusal if it may have been made before, or cannot be recorded; nothing is sent
 * @throws ServiceError, CanceledError
 */
export async function createOnce<T>(creation: Creation<T>): Promise<Created<T>> {
	return await new GuardedCreation(creation).run();
}

/**
 * Whether an earlier attempt is known. If so, {@link createOnce} returns what it made or refuses. It
 * sends a new one only with the user's code, or if what it made is void.
 */
export async function isKnown<T>(creation: Creation<T>): Promise<boolean> {
	return await new GuardedCreation(creation).isKnown().catch(refused(creation));
}

class GuardedCreation<T> {
	private readonly identity: Identity;
	private readonly ledger: Ledger | undefined;
	/** How many codes the user has given for it, the present one included. */
	private codesUsed = 0;
	/** Whether a code allows this very attempt. */
	private hasCode = false;

	constructor(private readonly creation: Creation<T>) {
		this.identity = identify(creation);
		this.ledger = Ledger.of(creation.context);
	}

	async run(): Promise<Created<T>> {
		const { creation } = this;
		const { existing, release } = await creation.inTurn(async () => await this.enter());
		const making = existing
			? Promise.resolve({ made: existing, isExisting: true })
			: this.create().then((made) => ({ made, isExisting: false }));
		return await making.finally(release);
	}

	/** Waits until nobody else makes the same, and finds what was made or enters this attempt. */
	private async enter(): Promise<{ existing?: T; release: () => void }> {
		const { creation, identity } = this;
		const release = await hold(ledgerKeys(identity), creation.signal);
		const existing = await this.findOrEnter().catch((error: unknown) => {
			release();
			return refused(creation)(error);
		});
		return { existing, release };
	}

	async isKnown(): Promise<boolean> {
		const { creation, identity, ledger } = this;
		// What is under way elsewhere is known once it has come to its end.
		return await exclusively(
			ledgerKeys(identity),
			async () => {
				const known = [recall(identity.order), recall(identity.doubt), recentCall(identity)];
				if (this.attemptAtThisPlace() ?? known.find(Boolean)) return true;
				for (const key of ledgerKeys(identity).filter((each) => this.isTelling(each))) {
					if (await ledger?.has(key)) return true;
				}
				return false;
			},
			creation.signal,
		);
	}

	private async findOrEnter(): Promise<T | undefined> {
		const existing = await this.findExisting();
		if (!existing) await this.enterInLedger();
		return existing;
	}

	/** What this process and this execution know to exist; refuses a doubt that no code allows. */
	private async findExisting(): Promise<T | undefined> {
		const { creation, identity } = this;
		const { order, doubt } = identity;
		const here = this.attemptAtThisPlace();
		if (here?.state === 'made') return await this.readFromThisPlace(here);
		const ordered = recall(order);
		const isOther = ordered !== undefined && ordered.fingerprint !== creation.fingerprint;
		if (isOther && ordered.state === 'inDoubt') throw otherOrder(creation);
		const known = ordered ?? recentCall(identity);
		if (known?.state === 'made') {
			const made = await this.read(known, isOther);
			if (!creation.isVoid(made)) {
				if (isOther) throw otherOrder(creation);
				return made;
			}
			await this.releaseOrder(known);
		}
		const doubtful = [here, ordered, recall(doubt)].find((each) => each?.state === 'inDoubt');
		if (doubtful) await this.requireCode(doubtful);
		return undefined;
	}

	/** Only a Retry returns to a place that its own memory lacks. */
	private attemptAtThisPlace(): Attempt | undefined {
		const { identity } = this;
		const { context, memory } = this.creation;
		const known = [memory.get(identity.spot)];
		if (isRetry(context)) known.push(recall(identity.place), recall(identity.placeByContent));
		return known.find((attempt) => attempt?.state === 'made') ?? known.find(Boolean);
	}

	private async readFromThisPlace(here: Attempt): Promise<T> {
		const { creation } = this;
		const isSameAccount = here.account === creation.account.key;
		if (here.fingerprint !== creation.fingerprint) {
			throw isSameAccount ? changed(creation, here) : otherAccount(creation);
		}
		if (isSameAccount) return await this.read(here);
		// Another token may belong to the same account: then the transaction can be read.
		const read = creation.kind === 'charge' ? creation.again(here.result ?? {}) : Promise.reject();
		return await read.catch((error: unknown) => {
			throw error instanceof CanceledError ? error : otherAccount(creation);
		});
	}

	/** @param isOther whether it belongs to another order, of which the error may show nothing */
	private async read({ result = {} }: Attempt, isOther = false): Promise<T> {
		const { creation } = this;
		return await creation.again(result).catch((error: unknown) => {
			if (!(error instanceof ServiceError)) throw error;
			throw isOther
				? otherOrder(creation)
				: unreadable(creation, String(result.hash), error.outcome);
		});
	}

	/** Enters the creation in n8n's database; refuses an earlier one that no code allows. */
	private async enterInLedger(): Promise<void> {
		const { identity, ledger } = this;
		if (!ledger) return;
		const keys = ledgerKeys(identity);
		const seen = await ledger.enter(keys);
		// While the request is under way, others may fill the table.
		ledger.keep(keys);
		const isKnown = [...seen].some((key) => this.isTelling(key));
		if (!isKnown) return;
		await this.requireCode().catch(async (error: unknown) => {
			await ledger.strike(keys.filter((key) => !seen.has(key)));
			throw error;
		});
	}

	/** Whether a key in the ledger tells of an earlier attempt: places do so only in a Retry. */
	private isTelling(key: string): boolean {
		const { place, placeByContent } = this.identity;
		return ![place, placeByContent].includes(key) || isRetry(this.creation.context);
	}

	/** Refuses the creation, unless the user has given its code; each code counts once. */
	private async requireCode(earlier?: Attempt): Promise<void> {
		if (this.hasCode) return;
		const { creation, identity, ledger } = this;
		const { used, key, code, accepted } = await nextCode(identity, ledger);
		const isGiven = typedCodes(creation.repeatCode).some((given) => accepted.includes(given));
		if (!isGiven || (await ledger?.enter([key]))?.has(key)) {
			throw inDoubt(creation, code, earlier);
		}
		ledger?.keep([key]);
		remember([key], this.attempt('inDoubt'));
		this.hasCode = true;
		this.codesUsed = used + 1;
	}

	/** Sends the request, in doubt until its outcome is known. */
	private async create(): Promise<T> {
		const { creation, identity } = this;
		this.remember([...lastingKeys(identity), identity.doubt], this.attempt('inDoubt'));
		const made = await creation.create().catch(async (error: unknown) => {
			if (isProvablyNotMade(error)) await this.withdraw();
			else await this.leaveInDoubt();
			throw error;
		});
		await this.settle(made);
		return made;
	}

	/** Takes the doubt out; the place stays, and so does the order unless the creation is void. */
	private async settle(made: T): Promise<void> {
		const { creation, identity } = this;
		const { order, doubt } = identity;
		const result = creation.keep(made);
		this.remember(lastingKeys(identity), { ...this.attempt('made'), result });
		const over = order !== undefined && creation.isVoid(made) ? [doubt, order] : [doubt];
		forget(over);
		const lasting = ledgerKeys(identity).filter((key) => !over.includes(key));
		await this.ledger?.settle(lasting, over);
	}

	private async leaveInDoubt(): Promise<void> {
		const keys = ledgerKeys(this.identity);
		await this.ledger?.settle(keys);
		this.ledger?.keep(keys);
	}

	private async withdraw(): Promise<void> {
		const { identity } = this;
		this.creation.memory.delete(identity.spot);
		forget([...lastingKeys(identity), identity.doubt]);
		await this.ledger?.strike(ledgerKeys(identity));
	}

	/** Frees the order of a void creation, unless another process has made it again by a code. */
	private async releaseOrder(known: Attempt): Promise<void> {
		const { identity, ledger } = this;
		const { order } = identity;
		const { used } = await nextCode(identity, ledger);
		if (used !== known.allowed) {
			await this.requireCode();
			return;
		}
		this.codesUsed = used;
		if (order !== undefined) await ledger?.strike([order]);
	}

	private attempt(state: Attempt['state']): Attempt {
		const { account, fingerprint, amount } = this.creation;
		const startedAt = clock.now();
		const allowed = this.codesUsed;
		return { state, account: account.key, fingerprint, amount, startedAt, allowed };
	}

	/** Remembers an attempt in the execution and, under these keys, in the process. */
	private remember(keys: readonly string[], attempt: Attempt): void {
		const { identity } = this;
		const { memory, itemIndex: item } = this.creation;
		memory.set(identity.spot, { run: memory.run(), item }, attempt);
		remember(keys, attempt);
	}
}

/** Says what a failure of n8n's database means for the creation. */
function refused(subject: Subject): (error: unknown) => never {
	return (error) => {
		throw error instanceof LedgerError ? notRecorded(subject, error.message) : error;
	};
}

function recentCall({ call }: Identity): Attempt | undefined {
	const known = recall(call);
	return known && clock.now() - known.startedAt < CALL_COUNTS_MS ? known : undefined;
}

/** Any unforeseen error after the request may have left keeps the outcome in doubt. */
function isProvablyNotMade(error: unknown): boolean {
	if (error instanceof CanceledError) return true;
	return error instanceof ServiceError && !error.isInDoubt;
}
