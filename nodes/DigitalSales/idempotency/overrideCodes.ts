import { createHash, randomUUID } from 'crypto';
import { BoundedMap, processState } from '../shared/processState';
import { clock } from '../shared/clock';
import { digest } from '../shared/digest';
import type { Ledger } from './ledger';

/** No letters or digits that look alike. */
const LETTERS = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const LENGTH = 8;

/** A code left in a form must expire, since its use may be forgotten: it holds today and tomorrow. */
const DAY_MS = 86_400_000;

/** Far more than anybody needs; bounds the search for the next one. */
const MOST_TURNS = 1_000;

const SHOWN_CODE = new RegExp(`^[${LETTERS}]{4}-[${LETTERS}]{4}$`, 'i');

/** The hashes in what somebody typed: all that does not look like a code as it is shown. */
export function hashesIn(text: string): string[] {
	return text.split(/[\s,;]+/).filter((word) => word !== '' && !SHOWN_CODE.test(word));
}

/** What a refusal may tell of: the same charge, its order, or other data in its place. */
export type Told = 'same' | 'order' | 'other';

const NOTHING: Told[][] = [[]];
/** All that a refusal may tell of at once. */
const TELLINGS = (['same', 'order', 'other'] as const).reduce(
	(tellings, one) => tellings.flatMap((told) => [told, [...told, one]]),
	NOTHING,
);

/** The latest turn that this process has taken of each row. */
const taken = processState(new BoundedMap<number>({ most: 10_000 }));

/**
 * A row of turns, each of which is taken once, by whichever process comes first. Who makes something
 * again takes the next one, by a code or because the earlier one is void.
 */
export class RepeatCodes {
	/** Names it in the ledger. */
	private readonly owner = digest(randomUUID());
	/** The turn that it has taken. */
	private own?: number;

	/**
	 * @param row names it
	 * @param fingerprint of the only thing that a code may allow
	 */
	constructor(
		private readonly row: string,
		private readonly fingerprint: string,
		private readonly ledger: Ledger | undefined,
	) {}

	/** The latest turn that this process knows to be taken; 0 if none. */
	get latest(): number {
		return taken.get(this.row) ?? 0;
	}

	/**
	 * Takes a turn.
	 *
	 * @returns whether nobody had taken it before, nor takes it at the same moment
	 * @throws LedgerError
	 */
	async take(turn: number): Promise<boolean> {
		if (turn <= this.latest) return false;
		const isMine = (await this.ledger?.enter(this.key(turn), this.owner)) ?? true;
		if (isMine) {
			this.own = turn;
			taken.set(this.row, turn);
		}
		return isMine;
	}

	/** Gives back the turn that it has taken, if any: nothing was sent. */
	async giveBack(): Promise<void> {
		const { own } = this;
		this.own = undefined;
		if (own === undefined) return;
		taken.delete(this.row);
		await this.ledger?.release([this.key(own)], this.owner);
	}

	/** Whether anybody has taken a turn. */
	async isTaken(turn: number): Promise<boolean> {
		return turn <= this.latest || ((await this.ledger?.has(this.key(turn))) ?? false);
	}

	/** Has the code that was shown last allow nothing any more. */
	async spend(): Promise<void> {
		await this.take(await this.next());
	}

	/** From now on the turn that it has taken is not given back. */
	useUp(): void {
		this.own = undefined;
	}

	/**
	 * The code that allows the next turn to someone who has read of all that is in doubt.
	 *
	 * @throws LedgerError
	 */
	async nextCode(doubted: readonly Told[]): Promise<string> {
		return this.codeOf(await this.next(), doubted, today()).replace(/.{4}/, '$&-');
	}

	/**
	 * The next turn, if a typed code allows it; several may be typed, with or without the dash.
	 *
	 * @param doubted what its refusal must have told
	 * @throws LedgerError
	 */
	async allowedBy(text: string, doubted: readonly Told[]): Promise<number | undefined> {
		const words = text.toUpperCase().split(/[\s,;]/);
		const typed = words.map((word) => word.replace(/[^0-9A-Z]/g, ''));
		const next = await this.next();
		const isAllowed = TELLINGS.filter((told) => doubted.every((one) => told.includes(one)))
			.flatMap((told) => [today(), today() - 1].map((day) => this.codeOf(next, told, day)))
			.some((code) => typed.includes(code));
		return isAllowed ? next : undefined;
	}

	/** Names the next turn. */
	async upcoming(): Promise<string> {
		return this.key(await this.next());
	}

	/** The first turn that nobody has taken. */
	private async next(): Promise<number> {
		let { latest } = this;
		while (latest < MOST_TURNS && (await this.isTaken(latest + 1))) latest++;
		taken.set(this.row, latest);
		return latest + 1;
	}

	private key(turn: number): string {
		return digest('turn', this.row, String(turn));
	}

	private codeOf(turn: number, told: readonly Told[], day: number): string {
		const text = [this.key(turn), this.fingerprint, String(day), ...[...new Set(told)].sort()].join(
			' ',
		);
		const bytes = createHash('sha256').update(text).digest().subarray(0, LENGTH);
		return Array.from(bytes, (byte) => LETTERS[byte % LETTERS.length]).join('');
	}
}

function today(): number {
	return Math.floor(clock.now() / DAY_MS);
}
