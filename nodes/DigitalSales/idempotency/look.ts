import { randomUUID } from 'crypto';
import { compact, pick, uniq } from 'lodash';
import { ServiceError } from '../api';
import { isSameReference } from '../domain';
import { executionKey } from '../n8n';
import { clock } from '../shared';
import { type Creation, dataKey, isOrderKey, originKey, successor } from './keys';
import { type Attempt, attempts, hashOf } from './memory';
import * as refusals from './refusals';

/** Where there is no execution, an agent repeats a call within minutes. Customers buy again later. */
const RECENT_CALL_MS = 15 * 60_000;

/** What was asked for, now or by the attempt that a Retry repeats. */
type Asked = Pick<Attempt, (typeof ASKED)[number]>;
const ASKED = ['identity', 'key', 'fingerprint', 'customer', 'orderReference', 'about'] as const;

export interface Found<T> {
	/** The key after the last charge of `identity`. Becomes the key of the attempt. */
	key: string;
	/** All keys to claim before the send, each after the last charge of its chain: free, or held by the attempt in doubt. */
	ends: string[];
	/** Unix time in milliseconds. */
	lookedAt: number;
	existing?: Attempt;
	/** The existing charge as it is now. Missing ahead, where it is not read. */
	current?: T;
	/** Nothing is sent without a decision. */
	doubt?: refusals.Doubt;
	replacedHash?: string;
}

/**
 * Looks in the execution's own data, the process and the ledger.
 *
 * @param isAhead before the run sends anything: the charge that the item gets is not read yet
 * @throws NotSentError if an earlier charge forbids this one
 * @throws LedgerError
 */
export async function findEarlier<T>(creation: Creation<T>, isAhead = false): Promise<Found<T>> {
	const { memory, own, unresolved, fingerprint } = creation;
	const found: Found<T> = { key: creation.identity, ends: [], lookedAt: clock.now() };

	for (const identity of identitiesOf(creation)) {
		const { latest, end } = await followChain(creation, identity);
		if (identity === creation.identity) found.key = end;
		// If the node was deleted and made again, its new id finds no rows of the old one.
		const isOpen = own?.key === end && own.state === 'unresolved';
		if (isOpen || (await isKeyTaken(creation, end))) {
			found.doubt ??= { attempt: findAttempt(creation, end, 'unresolved') };
		} else if (latest && !found.doubt) {
			Object.assign(found, await compareWithCharge(creation, latest, end, isAhead));
		}

		// Nothing is sent, so its chain needs no key.
		if (found.existing) return found;
		// A changed Retry only looks at its earlier chain, whose key is not for the changed charge.
		const isChanged = own?.identity === identity && own.fingerprint !== fingerprint;
		if (!isChanged || identity === creation.identity) found.ends.push(end);
	}
	// Only now, because the attempt in doubt may hold keys of several chains, and a decision ends them all.
	if (found.doubt) return found;

	const isReleased = isAhead && memory.releasedAhead.has(fingerprint);
	if (unresolved && !isReleased && (await isKeyTaken(creation, unresolved))) {
		found.doubt = { attempt: findAttempt(creation, unresolved, 'unresolved'), isOfOthers: true };
	}

	return found;
}

/** Requests of a process that share a key wait for each other. */
export function lockedKeys<T>(creation: Creation<T>): string[] {
	return compact([...identitiesOf(creation), creation.unresolved]);
}

/** All under which this item may have been charged. */
function identitiesOf<T>({ identity, former, own }: Creation<T>): string[] {
	return uniq(compact([identity, former, own?.identity]));
}

/** Finds the latest charge of an identity, each of which replaced an earlier one, and the key of the next one. */
async function followChain<T>(creation: Creation<T>, identity: string) {
	const own = creation.own?.identity === identity ? creation.own : undefined;
	let end = own?.key ?? identity;
	let latest: Attempt | undefined;

	for (;;) {
		const known = findAttempt(creation, end, 'made');
		const hash = known ? hashOf(known) : await creation.ledger?.readText(end);
		if (hash === undefined) return { latest, end };

		// A changed Retry compares its earlier chain with the data it had then.
		const asked = { ...(own ?? creation), identity, key: end };
		latest = known ?? (await readStored(creation, asked, hash));
		end = successor(end, hash);
	}
}

/**
 * The ledger has only the hash. Of an order, it also says whether fingerprint and execution are those asked for. Of this
 * attempt, only identity, key, hash, fingerprint, customer and origin are facts, and 'another' equals nothing.
 */
async function readStored<T>(creation: Creation<T>, asked: Asked, hash: string): Promise<Attempt> {
	const { ledger, memory } = creation;
	const { key, fingerprint } = asked;
	const attempt = buildAttempt(creation, asked, { state: 'made', result: { hash } });
	if (!isOrderKey(key)) return { ...attempt, orderReference: undefined };

	const isSame = await ledger?.isOwner(dataKey(key), fingerprint);
	const isOwn = await ledger?.isOwner(originKey(key), memory.origin);

	return {
		...attempt,
		...(!isSame && { fingerprint: 'another', customer: 'another' }),
		origin: isOwn ? memory.origin : 'another',
	};
}

/** Reads the charge, because it may be void by now. Ahead only if it is another than asked for. */
async function compareWithCharge<T>(
	creation: Creation<T>,
	attempt: Attempt,
	end: string,
	isAhead: boolean,
): Promise<Partial<Found<T>>> {
	const { context, fingerprint, orderReference } = creation;
	const hasExecution = executionKey(context) !== undefined;
	const isRecent = clock.now() - attempt.startedAt < RECENT_CALL_MS;
	if (!hasExecution && !isOrderKey(end) && !isRecent) return {};

	// A Retry may add a reference, or leave it out.
	const reference = orderReference ?? attempt.orderReference ?? '';
	const isSameOrder = isSameReference(reference, attempt.orderReference ?? reference);
	const isSame = attempt.fingerprint === fingerprint && isSameOrder;
	if (isAhead && isSame) return { existing: attempt };

	const made = await creation.readAgain(attempt.result ?? {}).catch((error: unknown) => {
		if (!(error instanceof ServiceError)) throw error;
		if (error.mayBeGone) return undefined;
		throw isSame
			? refusals.unreadableError(attempt, error)
			: refusals.otherDataError(creation, attempt);
	});

	if (made === undefined) return { doubt: { attempt, isGone: true } };
	if (creation.isVoid(made)) return { replacedHash: hashOf(attempt) };
	if (!isSame) throw refusals.otherDataError(creation, attempt);
	return { existing: attempt, current: made };
}

/** The attempt that has the key, if it has this state, as far as this process and execution know. */
export function findAttempt<T>(creation: Creation<T>, key: string, state: Attempt['state']) {
	const { own, memory, identity } = creation;
	// An equal item has no attempt of its own.
	const stored = [own, memory.getFirst(identity)].find((attempt) => attempt?.key === key);
	return [attempts.get(key), stored].find((attempt) => attempt?.state === state);
}

/** The ledger knows best, because another process may have ended a doubt. */
export async function isKeyTaken<T>({ ledger }: Creation<T>, key: string): Promise<boolean> {
	return ledger ? await ledger.hasKey(key) : attempts.get(key)?.state === 'unresolved';
}

export function buildAttempt<T>(
	{ memory, itemIndex }: Creation<T>,
	asked: Asked,
	outcome: Pick<Attempt, 'state' | 'result'>,
): Attempt {
	return {
		...pick(asked, ASKED),
		...outcome,
		id: randomUUID(),
		origin: memory.origin,
		startedAt: clock.now(),
		run: memory.runNumber(),
		item: itemIndex,
	};
}
