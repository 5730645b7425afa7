import { createHash } from 'crypto';
import { BoundedMap } from '../shared/boundedMap';
import { clock } from '../shared/clock';
import { processWide } from '../shared/processWide';
import { digest } from './execution';
import type { Ledger } from './ledger';

/** No letters or digits that look alike. */
const LETTERS = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const LENGTH = 8;

/** A code left in a form must expire, since its use may be forgotten: it holds today and tomorrow. */
const DAY_MS = 86_400_000;

/** Far more than anybody needs; bounds the search for what a code allows. */
const MOST_TURNS = 1_000;

/** The latest turn that this process has taken of each row. */
const taken = processWide(new BoundedMap<number>({ most: 10_000 }));

/**
 * A row of turns, each of which is taken once, by whichever process comes first. Who makes something
 * again takes the next one, by a code or because the earlier one is void. So does a process that shows
 * a code and does not know the latest turn, since n8n's database can only be asked by entering: that
 * makes codes shown before invalid.
 */
export class Turns {
	/**
	 * @param row names it
	 * @param fingerprint of the only thing that a code may allow
	 */
	constructor(
		private readonly row: string,
		private readonly fingerprint: string,
		private readonly ledger: Ledger | undefined,
	) {}

	/** The latest turn that this process knows to be taken; 0 if it knows of none. */
	get latest(): number {
		return taken.get(this.row) ?? 0;
	}

	/**
	 * Takes a turn.
	 *
	 * @returns whether nobody had taken it before
	 * @throws LedgerError
	 */
	async take(turn: number): Promise<boolean> {
		if (turn <= this.latest) return false;
		const key = this.key(turn);
		const seen = await this.ledger?.enter([key]);
		if (seen?.has(key)) {
			// Another process may have taken later ones, too.
			taken.delete(this.row);
			return false;
		}
		taken.set(this.row, turn);
		return true;
	}

	/** The code that allows the next turn. */
	async code(): Promise<string> {
		let latest = taken.get(this.row);
		if (latest === undefined) {
			latest = 1;
			while (!(await this.take(latest))) latest++;
		}
		return this.codeOf(latest + 1, today()).replace(/^.{4}/, '$&-');
	}

	/** The latest turn that a typed code allows; several may be typed, with or without the dash. */
	allowedBy(text: string | undefined): number | undefined {
		if (text === undefined) return undefined;
		const words = text.toUpperCase().split(/[\s,;]+/);
		const typed = words.map((word) => word.replace(/[^0-9A-Z]/g, ''));
		for (let turn = MOST_TURNS; turn > 0; turn--) {
			const codes = [today(), today() - 1].map((day) => this.codeOf(turn, day));
			if (codes.some((code) => typed.includes(code))) return turn;
		}
		return undefined;
	}

	private key(turn: number): string {
		return digest('turn', this.row, String(turn));
	}

	private codeOf(turn: number, day: number): string {
		const text = `${this.key(turn)} ${this.fingerprint} ${day}`;
		const bytes = createHash('sha256').update(text).digest().subarray(0, LENGTH);
		return [...bytes].map((byte) => LETTERS[byte % LETTERS.length]).join('');
	}
}

function today(): number {
	return Math.floor(clock.now() / DAY_MS);
}
