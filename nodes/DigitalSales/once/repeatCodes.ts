import { createHash, randomUUID } from 'crypto';
import { BoundedMap, processWide } from '../shared/processWide';
import { clock } from '../shared/clock';
import { digest } from './execution';
import type { Ledger } from './ledger';

/** No letters or digits that look alike. */
const LETTERS = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
/** And one for what was told. */
const LENGTH = 7;

/** A code left in a form must expire, since its use may be forgotten: it holds today and tomorrow. */
const DAY_MS = 86_400_000;

/** Far more than anybody needs; bounds the search for what a code allows. */
const MOST_TURNS = 1_000;

/** The latest turn that this process has taken of each row. */
const taken = processWide(new BoundedMap<number>({ most: 10_000 }));

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

	/** From now on the turn that it has taken is not given back. */
	useUp(): void {
		this.own = undefined;
	}

	/**
	 * The code that allows the next turn.
	 *
	 * @param told what is in doubt as far as its refusal tells, as three bits
	 */
	async nextCode(told: number): Promise<string> {
		let { latest } = this;
		while (latest < MOST_TURNS && (await this.ledger?.has(this.key(latest + 1)))) latest++;
		taken.set(this.row, latest);
		const [code = ''] = this.codesOf(latest + 1);
		return (code + LETTERS.charAt(told)).replace(/.{4}/, '$&-');
	}

	/**
	 * The latest turn that a typed code allows; several may be typed, with or without the dash.
	 *
	 * @param doubted what its refusal must have told
	 */
	allowedBy(text: string | undefined, doubted: number): number | undefined {
		if (text === undefined) return undefined;
		const words = text.toUpperCase().split(/[\s,;]/);
		// The last letter is what was told.
		const typed = words.flatMap((word) => {
			const code = word.replace(/[^0-9A-Z]/g, '');
			const told = LETTERS.indexOf(code.slice(-1));
			return told >= 0 && (told & doubted) === doubted ? [code.slice(0, -1)] : [];
		});
		for (let turn = MOST_TURNS; turn > 0; turn--) {
			if (this.codesOf(turn).some((code) => typed.includes(code))) return turn;
		}
		return undefined;
	}

	private key(turn: number): string {
		return digest('turn', this.row, String(turn));
	}

	/** The codes of today and of yesterday. */
	private codesOf(turn: number): string[] {
		const key = this.key(turn);
		return [today(), today() - 1].map((day) => {
			const text = `${key} ${this.fingerprint} ${day}`;
			const bytes = createHash('sha256').update(text).digest().subarray(0, LENGTH);
			return Array.from(bytes, (byte) => LETTERS[byte % LETTERS.length]).join('');
		});
	}
}

function today(): number {
	return Math.floor(clock.now() / DAY_MS);
}
