import { randomUUID } from 'crypto';
import { compact, pick, uniq } from 'lodash';
import { ServiceError } from '../api';
import { isSameReference } from '../domain';
import { executionKey, Ledger } from '../n8n';
import { clock, digest } from '../shared';
import { type Creation, isOrderKey, successor } from './keys';
import { type Attempt, attempts } from './memory';
import * as refusals from './refusals';

/** Where there is no execution, an agent repeats a call within minutes. Customers buy again later. */
const RECENT_CALL_MS = 15 * 60_000;

export interface Found<T> {
	/** The keys to claim before the request is sent: the ends of all chains that were followed. */
	ends: string[];
	existing?: { attempt: Attempt; made: T };
	/** Looking ahead, an existing charge is not read. */
	known?: Attempt;
	/** Nothing is sent without a decision. */
	doubt?: refusals.Doubt;
	replacedHash?: string;
}

/** The charges of an identity, each of which replaced a void one. */
interface Chain {
	latest?: Attempt;
	/** The key of the next charge. */
	end: string;
	/** An attempt has the end, and its outcome is unknown here. */
	isTaken: boolean;
}

/**
 * Looks in the execution's own data, the process and the ledger.
 *
 * @throws NotSentError if an earlier charge forbids this one
 * @throws LedgerError
 */
export async function lookForEarlier<T>(
	creation: Creation<T>,
	{ isAhead = false } = {},
): Promise<Found<T>> {
	const found: Found<T> = { ends: [] };

	for (const identity of identitiesOf(creation)) {
		const chain = await followChain(creation, identity);
		const { latest, end, isTaken } = chain;
		if (isTaken) found.doubt = { attempt: await findHolder(creation, end) };
		else if (latest) await considerLatest(creation, latest, found, isAhead);

		if (found.known || (found.existing && identity === creation.identity)) return found;
		// Another cart or amount is another charge.
		const own = ownAttempt(creation);
		const isOther = own?.identity === identity && own.fingerprint !== creation.fingerprint;
		if (!isOther || identity === creation.identity) found.ends.push(end);
		if (found.existing || found.doubt) return found;
	}

	const { memory, unresolved } = creation;
	const isDecided = isAhead && unresolved !== undefined && memory.decided.has(unresolved);
	if (unresolved && !isDecided && (await isKeyTaken(creation, unresolved))) {
		found.doubt = { attempt: await findHolder(creation, unresolved), isOfOthers: true };
	}

	return found;
}

/** All identities under which this item may have been charged. */
export function identitiesOf<T>(creation: Creation<T>): string[] {
	const { identity, former } = creation;

	return uniq(compact([identity, former, ownAttempt(creation)?.identity]));
}

/** What this item of the execution has got or attempted. The charge of an equal item belongs to that item. */
function ownAttempt<T>({ memory, itemIndex, origin }: Creation<T>): Attempt | undefined {
	const own = memory.get(itemIndex);
	const isOfEqualItem = own?.isReplayed === true && own.origin === origin;

	return isOfEqualItem ? undefined : own;
}

/** The attempt that has the key, unless only another process knows it. Then it may be under way. */
export async function findHolder<T>(
	creation: Creation<T>,
	key: string,
): Promise<Attempt | undefined> {
	const ledger = Ledger.forContext(creation.context);
	for (const attempt of compact([attempts.get(key), ownAttempt(creation)])) {
		const owner = key === creation.unresolved ? attempt.key : attempt.id;
		if (!ledger || (await ledger.isOwner(key, owner))) return attempt;
	}

	return undefined;
}

async function followChain<T>(creation: Creation<T>, identity: string): Promise<Chain> {
	const ledger = Ledger.forContext(creation.context);
	const own = ownAttempt(creation);
	const ofChain = own?.identity === identity ? own : undefined;
	let end = ofChain?.key ?? identity;
	let latest: Attempt | undefined;

	for (;;) {
		const ofItem = ofChain?.key === end ? ofChain : undefined;
		const known = [attempts.get(end), ofItem].find((attempt) => attempt?.result);
		const hash = known ? hashOf(known) : await ledger?.readText(end);
		if (hash === undefined) {
			const isOpen = ofItem?.state === 'unresolved';
			return { latest, end, isTaken: isOpen || (await isKeyTaken(creation, end)) };
		}

		const fingerprint = ofChain?.fingerprint ?? creation.fingerprint;
		latest = known ?? (await readStored({ ...creation, fingerprint, identity }, end, hash));
		end = successor(end, hash);
	}
}

/** The ledger gives back whose charge it is, but not what it was for. */
async function readStored<T>(creation: Creation<T>, key: string, hash: string): Promise<Attempt> {
	const { fingerprint, origin } = creation;
	const attempt = buildAttempt(creation, key, { state: 'made', result: { hash } });
	if (!isOrderKey(key)) return { ...attempt, orderReference: undefined };

	const ledger = Ledger.forContext(creation.context);
	const isSame = await ledger?.isOwner(dataKey(key), fingerprint);
	const isOwn = await ledger?.isOwner(originOfKey(key), origin);

	return {
		...attempt,
		fingerprint: isSame ? fingerprint : 'another',
		customer: isSame ? attempt.customer : 'another',
		origin: isOwn ? origin : 'another',
	};
}

/** Reads the charge, because it may be void by now. */
async function considerLatest<T>(
	creation: Creation<T>,
	attempt: Attempt,
	found: Found<T>,
	isAhead: boolean,
): Promise<void> {
	if (isPastCall(creation, attempt)) return;

	const isSame = attempt.fingerprint === creation.fingerprint;
	const hasReference = attempt.orderReference !== undefined;
	const isOtherOrder =
		hasReference &&
		creation.orderReference !== undefined &&
		!isSameReference(creation.orderReference, attempt.orderReference ?? '');
	if (isAhead && isSame && !isOtherOrder) {
		found.known = attempt;
		return;
	}

	const refusal = !isSame
		? refusals.otherDataError(creation, attempt)
		: isOtherOrder && refusals.otherReferenceError(creation, attempt);
	const made = await creation.readAgain(attempt.result ?? {}).catch((error: unknown) => {
		if (!(error instanceof ServiceError)) throw error;
		if (refusals.isUnknownToService(error.outcome)) return undefined;
		throw refusal || refusals.resultReadFailedError(creation, attempt, error.outcome);
	});

	if (made === undefined) found.doubt = { attempt, isGone: true };
	else if (creation.isVoid(made)) found.replacedHash = hashOf(attempt);
	else if (refusal) throw refusal;
	else found.existing = { attempt, made };
}

function isPastCall<T>({ context }: Creation<T>, { startedAt }: Attempt): boolean {
	return executionKey(context) === undefined && clock.now() - startedAt >= RECENT_CALL_MS;
}

/** The ledger knows best, because another process may have ended a doubt. */
export async function isKeyTaken<T>({ context }: Creation<T>, key: string): Promise<boolean> {
	const ledger = Ledger.forContext(context);

	return ledger ? await ledger.hasKey(key) : attempts.get(key)?.state === 'unresolved';
}

export function buildAttempt<T>(
	creation: Creation<T>,
	key: string,
	outcome: Pick<Attempt, 'state' | 'result'>,
): Attempt {
	return {
		...pick(creation, ['identity', 'fingerprint', 'customer', 'origin', 'orderReference', 'about']),
		id: digest(randomUUID()),
		key,
		startedAt: clock.now(),
		...outcome,
	};
}

/** The time of an error, so that a decision is not older than what it decides about. */
export function toldKey(key: string): string {
	return `told ${digest(key)}`;
}

export function hashOf({ result }: Pick<Attempt, 'result'>): string {
	return String(result?.hash);
}

/** Owned by the fingerprint of an order's charge. */
export function dataKey(key: string): string {
	return `${key} data`;
}

/** Owned by the execution that made an order's charge. */
export function originOfKey(key: string): string {
	return `${key} origin`;
}
