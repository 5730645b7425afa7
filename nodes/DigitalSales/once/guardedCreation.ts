import { ServiceError } from '../api/outcome';
import { CanceledError, clock } from '../shared/clock';
import { exclusively } from '../shared/exclusively';
import { forget, recall, remember, type Attempt } from './attempts';
import type { Refusal } from '../output/errors';
import { nextCode, typedCodes, type NextCode } from './code';
import { isRetry } from './execution';
import type { Created, Creation } from './creation';
import { identify, lastingKeys, ledgerKeys, type Identity } from './identity';
import { Ledger, LedgerError } from './ledger';
import {
	changed,
	inDoubt,
	notRecorded,
	otherAccount,
	otherOrder,
	stopsOthers,
	unreadable,
	type Subject,
} from './refusals';

/** An agent repeats a call soon; a customer who buys the same again comes later. */
const CALL_COUNTS_MS = 15 * 60_000;

/**
 * A creation between what is remembered and what is sent. All it does happens while no other item or
 * execution of this process does the same.
 */
export class GuardedCreation<T> {
	private readonly identity: Identity;
	private readonly ledger: Ledger | undefined;
	/** How many codes the user has given for it, the present one included. */
	private allowed = 0;
	/** Whether a code allows this very attempt. */
	private isAllowed = false;

	constructor(private readonly creation: Creation<T>) {
		this.identity = identify(creation);
		this.ledger = Ledger.of(creation.context);
	}

	/** Sends it, or finds what was made before. */
	async make(): Promise<Created<T>> {
		return await this.alone(async () => {
			const existing = await this.findOrEnter().catch(refused(this.creation));
			if (existing) return { made: existing, isExisting: true };
			return { made: await this.create(), isExisting: false };
		});
	}

	/** Whether an earlier attempt is known. */
	async isKnown(): Promise<boolean> {
		const { identity, ledger } = this;
		const known = [recall(identity.order), recall(identity.doubt), recentCall(identity)];
		if (this.attemptAtThisPlace() ?? known.find(Boolean)) return true;
		for (const key of ledgerKeys(identity).filter((each) => this.isTelling(each))) {
			if (await ledger?.has(key).catch(refused(this.creation))) return true;
		}
		return false;
	}

	/** Refuses what this process knows to be in doubt, unless the user has given its code. */
	async refuseDoubt(): Promise<void> {
		const { creation, identity } = this;
		const doubtful = (): Attempt | undefined => {
			const here = this.attemptAtThisPlace();
			const known = [here, recall(identity.order), recentCall(identity)];
			return known.some((each) => each?.state === 'made') ? undefined : this.doubtAt(here);
		};
		if (!doubtful()) return;
		// It may be under way in another execution.
		await this.alone(async () => {
			const earlier = doubtful();
			if (!earlier) return;
			if (this.isOther(recall(identity.order))) throw otherOrder(creation);
			const { code } = await this.givenCode(earlier).catch(refused(creation));
			creation.codesInUse.push(code);
		});
	}

	private async alone<R>(task: () => Promise<R>): Promise<R> {
		return await exclusively(ledgerKeys(this.identity), task, this.creation.signal);
	}

	private async findOrEnter(): Promise<T | undefined> {
		const existing = await this.findExisting();
		if (!existing) await this.enterInLedger();
		return existing;
	}

	/** What this process and this execution know to exist; refuses a doubt that no code allows. */
	private async findExisting(): Promise<T | undefined> {
		const { creation, identity } = this;
		const { order } = identity;
		const here = this.attemptAtThisPlace();
		if (here?.state === 'made') return await this.readFromThisPlace(here);
		const ordered = recall(order);
		const isOther = this.isOther(ordered);
		if (isOther && ordered?.state === 'inDoubt') throw otherOrder(creation);
		const known = ordered ?? recentCall(identity);
		if (known?.state === 'made') {
			const made = await this.read(known, isOther);
			if (!creation.isVoid(made)) {
				if (isOther) throw otherOrder(creation);
				return made;
			}
			await this.releaseOrder(known);
		}
		const doubtful = this.doubtAt(here);
		if (doubtful) await this.requireCode(doubtful);
		return undefined;
	}

	/** Whether what has the same reference is another order. */
	private isOther(ordered: Attempt | undefined): boolean {
		return ordered !== undefined && ordered.fingerprint !== this.creation.fingerprint;
	}

	/** What is known to be in doubt. */
	private doubtAt(here: Attempt | undefined): Attempt | undefined {
		const { order, doubt } = this.identity;
		return [here, recall(order), recall(doubt)].find((each) => each?.state === 'inDoubt');
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
		if (this.isAllowed) return;
		const { ledger } = this;
		const { used, key, code } = await this.givenCode(earlier);
		if ((await ledger?.enter([key]))?.has(key)) throw this.inDoubt(code, earlier);
		ledger?.keep([key]);
		remember([key], this.attempt('inDoubt'));
		this.isAllowed = true;
		this.allowed = used + 1;
	}

	/** The next code as the user has given it; refuses the creation if it was not given. */
	private async givenCode(earlier?: Attempt): Promise<NextCode> {
		const { creation, identity, ledger } = this;
		const next = await nextCode(identity, ledger);
		const given = typedCodes(creation.repeatCode).find((code) => next.accepted.includes(code));
		if (given === undefined) throw this.inDoubt(next.code, earlier);
		return { ...next, code: given };
	}

	private inDoubt(code: string, earlier?: Attempt): Refusal {
		const { creation } = this;
		const inUse = stopsOthers(creation) ? creation.codesInUse : [];
		return inDoubt(creation, [...new Set([...inUse, code])], earlier);
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
		await this.ledger?.settle(over, lasting);
	}

	private async leaveInDoubt(): Promise<void> {
		const keys = ledgerKeys(this.identity);
		await this.ledger?.settle([], keys);
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
		const { order = '', call = '' } = identity;
		const { used } = await nextCode(identity, ledger);
		if (used !== known.allowed) {
			await this.requireCode();
			return;
		}
		this.allowed = used;
		forget([order, call].filter((key) => recall(key) === known));
		if (order !== '') await ledger?.strike([order]);
	}

	private attempt(state: Attempt['state']): Attempt {
		const { account, fingerprint, amount } = this.creation;
		const { allowed } = this;
		return { state, account: account.key, fingerprint, amount, startedAt: clock.now(), allowed };
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
