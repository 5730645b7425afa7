import { randomUUID } from 'crypto';
import { compact, uniq } from 'lodash';
import { ServiceError } from '../api';
import { isSameReference } from '../domain';
import { executionKey } from '../n8n';
import { clock } from '../shared';
import { type Creation, isOrderKey, successor } from './keys';
import { type Attempt, attempts, attemptSchema, hashOf } from './memory';
import * as refusals from './refusals';

/** Where there is no execution, an agent repeats a call within minutes. Customers buy again later. */
const RECENT_CALL_MS = 15 * 60_000;

export interface Found<T> {
	/**
	 * The key after the last charge of each chain, claimed before the send: free, or held by the attempt in doubt. The first
	 * is that of `identity`, and becomes the key of the attempt. The chain of `existing` has none.
	 */
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
	const { memory, own, unresolved } = creation;
	const found: Found<T> = { ends: [], lookedAt: clock.now() };

	for (const identity of identitiesOf(creation)) {
		const { latest, end } = await followChain(creation, identity);
		// The ledger does not know it if the node was made again under its name.
		const isOpen = own?.key === end && own.state === 'unresolved';
		if (isOpen || (await isKeyTaken(creation, end))) {
			found.doubt = { attempt: findAttempt(creation, end, 'unresolved') };
		} else if (latest) {
			Object.assign(found, await judge(creation, latest, end, isAhead));
		}

		// Nothing is sent, so its chain needs no key.
		if (found.existing) return found;
		// A changed Retry only looks at its earlier chain, whose key is not for the changed charge.
		const isChanged = own?.identity === identity && own.fingerprint !== creation.fingerprint;
		if (!isChanged || identity === creation.identity) found.ends.push(end);
		if (found.doubt) return found;
	}

	const isDecided = isAhead && memory.decided.has(unresolved ?? '');
	if (unresolved && !isDecided && (await isKeyTaken(creation, unresolved))) {
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

/**
 * Follows the charges of an identity, each of which replaced a void one.
 *
 * @returns the latest charge, and the key of the next one
 */
async function followChain<T>(
	creation: Creation<T>,
	identity: string,
): Promise<{ latest?: Attempt; end: string }> {
	const own = creation.own?.identity === identity ? creation.own : undefined;
	let end = own?.key ?? identity;
	let latest: Attempt | undefined;

	for (;;) {
		const known = findAttempt(creation, end, 'made');
		const hash = known ? hashOf(known) : await creation.ledger?.readText(end);
		if (hash === undefined) return { latest, end };

		// A changed Retry compares its earlier chain with the data it had then.
		latest = known ?? (await readStored({ ...creation, ...own, identity }, end, hash));
		end = successor(end, hash);
	}
}

/** The ledger has only the hash. Of an order, it also says whether fingerprint and execution are those of the creation. */
async function readStored<T>(creation: Creation<T>, key: string, hash: string): Promise<Attempt> {
	const { fingerprint, ledger, memory } = creation;
	const attempt = buildAttempt(creation, key, { state: 'made', result: { hash } });
	if (!isOrderKey(key)) return { ...attempt, orderReference: undefined };

	const isSame = await ledger?.isOwner(`${key} data`, fingerprint);
	const isOwn = await ledger?.isOwner(`${key} origin`, memory.origin);

	return {
		...attempt,
		...(!isSame && { fingerprint: 'another', customer: 'another' }),
		origin: isOwn ? memory.origin : 'another',
	};
}

/** Reads the charge, because it may be void by now. Ahead only if it is another than asked for. */
async function judge<T>(
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
export function findAttempt<T>({ own }: Creation<T>, key: string, state: Attempt['state']) {
	const ofItem = own?.key === key ? own : undefined;
	return [attempts.get(key), ofItem].find((attempt) => attempt?.state === state);
}

/** The ledger knows best, because another process may have ended a doubt. */
export async function isKeyTaken<T>({ ledger }: Creation<T>, key: string): Promise<boolean> {
	return ledger ? await ledger.hasKey(key) : attempts.get(key)?.state === 'unresolved';
}

export function buildAttempt<T>(
	creation: Creation<T>,
	key: string,
	outcome: Pick<Attempt, 'state' | 'result'>,
): Attempt {
	const { memory, itemIndex } = creation;

	return attemptSchema.parse({
		// Of these, the schema keeps identity, fingerprint, customer, orderReference and about.
		...creation,
		...outcome,
		id: randomUUID(),
		key,
		origin: memory.origin,
		startedAt: clock.now(),
		run: memory.runNumber(),
		item: itemIndex,
	});
}
