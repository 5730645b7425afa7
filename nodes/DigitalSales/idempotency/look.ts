import { randomUUID } from 'crypto';
import { compact, uniq } from 'lodash';
import { ServiceError } from '../api';
import { isSameReference } from '../domain';
import { executionKey, Ledger } from '../n8n';
import { clock, digest } from '../shared';
import { type Creation, isOrderKey, successor } from './keys';
import { type Attempt, attempts, attemptSchema, hashOf } from './memory';
import * as refusals from './refusals';

/** Where there is no execution, an agent repeats a call within minutes. Customers buy again later. */
const RECENT_CALL_MS = 15 * 60_000;

export interface Found<T> {
	/** The keys to claim before the request is sent: the ends of all chains that were followed. */
	ends: string[];
	existing?: Attempt;
	/** The existing charge as it is now. Looking ahead, it is not read. */
	made?: T;
	/** Nothing is sent without a decision. */
	doubt?: refusals.Doubt;
	replacedHash?: string;
}

/**
 * Looks in the execution's own data, the process and the ledger.
 *
 * @throws NotSentError if an earlier charge forbids this one
 * @throws LedgerError
 */
export async function lookForEarlier<T>(
	creation: Creation<T>,
	isAhead: boolean,
): Promise<Found<T>> {
	const found: Found<T> = { ends: [] };

	for (const identity of identitiesOf(creation)) {
		const { latest, end, isTaken } = await followChain(creation, identity);
		if (isTaken) found.doubt = { attempt: findHolder(creation, end) };
		else if (latest) await considerLatest(creation, latest, end, found, isAhead);

		if (found.existing && (isAhead || identity === creation.identity)) return found;
		// Another cart or amount is another charge.
		const own = creation.memory.get(creation.itemIndex);
		const isOther = own?.identity === identity && own.fingerprint !== creation.fingerprint;
		if (!isOther || identity === creation.identity) found.ends.push(end);
		if (found.existing || found.doubt) return found;
	}

	const { memory, unresolved } = creation;
	const isDecided = isAhead && memory.decided.has(unresolved ?? '');
	if (unresolved && !isDecided && (await isKeyTaken(creation, unresolved))) {
		const attempt = findHolder(creation, unresolved);
		found.doubt = { attempt, isOfOthers: true };
	}

	return found;
}

/** Requests of a process that share a key wait for each other. */
export function lockedKeys<T>(creation: Creation<T>): string[] {
	return compact([...identitiesOf(creation), creation.unresolved]);
}

/** All under which this item may have been charged. */
function identitiesOf<T>({ identity, former, memory, itemIndex }: Creation<T>): string[] {
	return uniq(compact([identity, former, memory.get(itemIndex)?.identity]));
}

/**
 * Follows the charges of an identity, each of which replaced a void one.
 *
 * @returns the latest charge, the key of the next one, and whether an attempt whose outcome is unknown has it
 */
async function followChain<T>(
	creation: Creation<T>,
	identity: string,
): Promise<{ latest?: Attempt; end: string; isTaken: boolean }> {
	const ledger = Ledger.forContext(creation.context);
	const own = creation.memory.get(creation.itemIndex);
	const ofChain = own?.identity === identity ? own : undefined;
	const { fingerprint, orderReference } = ofChain ?? creation;
	const asked = { fingerprint, orderReference, identity };
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

		latest = known ?? (await readStored({ ...creation, ...asked }, end, hash));
		end = successor(end, hash);
	}
}

/** The ledger gives back whose charge it is, but not what it was for. */
async function readStored<T>(creation: Creation<T>, key: string, hash: string): Promise<Attempt> {
	const { fingerprint, memory } = creation;
	const attempt = buildAttempt(creation, key, { state: 'made', result: { hash } });
	if (!isOrderKey(key)) return { ...attempt, orderReference: undefined };

	const ledger = Ledger.forContext(creation.context);
	const isSame = await ledger?.isOwner(`${key} data`, fingerprint);
	const isOwn = await ledger?.isOwner(`${key} origin`, memory.origin);

	return {
		...attempt,
		fingerprint: isSame ? fingerprint : 'another',
		customer: isSame ? attempt.customer : 'another',
		origin: isOwn ? memory.origin : 'another',
	};
}

/** Reads the charge, because it may be void by now. */
async function considerLatest<T>(
	creation: Creation<T>,
	attempt: Attempt,
	end: string,
	found: Found<T>,
	isAhead: boolean,
): Promise<void> {
	if (isPastCall(creation, attempt, end)) return;

	const { fingerprint, orderReference } = creation;
	const given = attempt.orderReference ?? orderReference;
	const isOtherOrder =
		orderReference !== undefined && !isSameReference(orderReference, given ?? '');
	const isSame = attempt.fingerprint === fingerprint && !isOtherOrder;
	if (isAhead && isSame) {
		found.existing = attempt;
		return;
	}

	const made = await creation.readAgain(attempt.result ?? {}).catch((error: unknown) => {
		if (!(error instanceof ServiceError)) throw error;
		if (error.isUnknownTransaction) return undefined;
		throw isSame
			? refusals.unreadableError(creation, attempt, error)
			: refusals.otherDataError(creation, attempt);
	});

	if (made === undefined) found.doubt = { attempt, isGone: true };
	else if (creation.isVoid(made)) found.replacedHash = hashOf(attempt);
	else if (!isSame) throw refusals.otherDataError(creation, attempt);
	else {
		found.existing = attempt;
		found.made = made;
	}
}

function isPastCall<T>({ context }: Creation<T>, { startedAt }: Attempt, end: string): boolean {
	const hasExecution = executionKey(context) !== undefined;

	return !hasExecution && !isOrderKey(end) && clock.now() - startedAt >= RECENT_CALL_MS;
}

/** The attempt that has the key, as far as this process and execution know. */
export function findHolder<T>(
	{ memory, itemIndex }: Creation<T>,
	key: string,
): Attempt | undefined {
	const candidates = [attempts.get(key), memory.get(itemIndex)];

	return candidates.find((attempt) => attempt?.state === 'unresolved');
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
	const { origin } = creation.memory;
	const own = { id: digest(randomUUID()), key, origin, startedAt: clock.now() };

	return attemptSchema.parse({ ...creation, ...own, ...outcome });
}
