import difference from 'lodash/difference';
import { clock } from '../shared/clock';
import { processWide } from '../shared/processWide';
import { digest } from './execution';
import { type Keys, type Row, ROWS, type Table } from './table';

/** Between two looks at a row: each costs as much as an entry, so those that are due share one. */
const TICK_MS = 500;
/** How long a process may stall between its read and its write; so long after its outcome a claim is looked at. */
export const LONGEST_STALL_MS = 5_000;
/** A row that takes no entry for so long is left as it is. */
const LONGEST_WATCH_MS = 60_000;

/** What a claim has left in a row once it is decided. */
export interface Leftover {
	table: Table;
	row: Row;
	lasting: Keys;
	/** Removed already, unless the database failed. */
	over: Keys;
	/** In the row of the workflow, of what lasts. */
	marks: Keys;
	nonce: string;
}

interface Watched extends Leftover {
	/** Whether the next look is the last one, unless something has changed. */
	isLate: boolean;
	/** When it was last changed: then a process may have begun to stall. */
	changedAt: number;
	begunAt: number;
}

/** By node. */
const watchedOf = processWide(new Map<string, Set<Watched>>());

/** What a claim enters beside its keys: for the first look at it, for the last one, and to tell what lasts. */
export function numbersOf(nonce: string) {
	return { first: nonce, late: digest('late', nonce), guard: digest('guard', nonce) };
}

/**
 * Looks soon, and once no process can stall any more that began before, whether one has brought back
 * what is over: then the number of that look is back, too; or has overwritten what lasts: then the guard
 * is gone, too, and all of it is entered again. Then the marks of what lasts are removed. Never throws.
 */
export function lookLater(leftover: Leftover): void {
	const { name } = leftover.table;
	const known = watchedOf.get(name);
	const watched = known ?? new Set<Watched>();
	// The last that is said of a key counts.
	for (const one of watched) {
		if (one.row !== leftover.row) continue;
		one.over = difference(one.over, leftover.lasting);
		one.lasting = difference(one.lasting, leftover.over);
		one.marks = difference(one.marks, leftover.over);
	}
	const begunAt = clock.elapsed();
	watched.add({ ...leftover, isLate: false, changedAt: begunAt, begunAt });
	if (known) return;
	watchedOf.set(name, watched);
	void lookUntilDone(name, watched);
}

/** Outside of any execution: what it holds on to stays in memory as long as the node is busy. */
async function lookUntilDone(name: string, watched: Set<Watched>): Promise<void> {
	while (watchedOf.get(name) === watched) {
		await clock.sleepAside(TICK_MS);
		const due = [...watched].filter(isDue);
		for (const row of ROWS) {
			// Nobody is to come by the keys of a claim and lose to marks that it may have left.
			const waiting = row === 'node' ? withMarks(watched) : new Set();
			const ofRow = due.filter((one) => one.row === row && !waiting.has(one.nonce));
			const done = await look(row, ofRow);
			for (const one of done) watched.delete(one);
			await removeMarks(done);
		}
		if (watched.size === 0) watchedOf.delete(name);
	}
}

function isDue({ isLate, changedAt }: Watched): boolean {
	return !isLate || clock.elapsed() - changedAt >= LONGEST_STALL_MS;
}

/** The claims whose marks have not been found to be gone. */
function withMarks(watched: Set<Watched>): Set<string> {
	const marks = [...watched].filter(({ row, isLate }) => row === 'workflow' && !isLate);
	return new Set(marks.map(({ nonce }) => nonce));
}

/** @returns those that need no other look */
async function look(row: Row, due: Watched[]): Promise<Watched[]> {
	const table = due.at(-1)?.table;
	return (await table?.alone(async () => await lookAlone(table, row, due))) ?? [];
}

async function lookAlone(table: Table, row: Row, due: Watched[]): Promise<Watched[]> {
	const entered = due.flatMap((one) => [...lastingOf(one), numberOf(one)]);
	const seen = await table.record(entered, row).catch(() => undefined);
	const done = due.filter(({ begunAt }) => clock.elapsed() - begunAt >= LONGEST_WATCH_MS);
	if (!seen) {
		for (const one of due) one.changedAt = clock.elapsed();
		return done;
	}
	const gone: string[] = [];
	for (const one of due) {
		const { over, isLate } = one;
		const { first, late, guard } = numbersOf(one.nonce);
		const isBack = over.length > 0 && seen.has(numberOf(one));
		const isChanged = isBack || !lastingOf(one).every((key) => seen.has(key));
		const isDone = isLate && !isChanged;
		if (isChanged) one.changedAt = clock.elapsed();
		if (!isBack) one.isLate = true;
		if (isDone) done.push(one);
		gone.push(first, late, ...(isBack ? over : []), ...(isDone ? [guard] : []));
	}
	await table.remove(gone, row);
	return done;
}

/** They are over as well. */
async function removeMarks(done: Watched[]): Promise<void> {
	const row = 'workflow';
	const marked = done.filter(({ marks }) => marks.length > 0);
	await marked.at(-1)?.table.strike(
		marked.flatMap(({ marks }) => marks),
		row,
	);
	for (const { table, nonce, marks } of marked) {
		lookLater({ table, nonce, row, lasting: [], over: marks, marks: [] });
	}
}

/** Nobody else enters it again. */
function numberOf({ isLate, nonce }: Watched): string {
	const { first, late } = numbersOf(nonce);
	return isLate ? late : first;
}

/** What lasts of a claim, and the guard, which tells whether it was overwritten. */
function lastingOf({ lasting, nonce }: Watched): string[] {
	return lasting.length > 0 ? [...lasting, numbersOf(nonce).guard] : [];
}
