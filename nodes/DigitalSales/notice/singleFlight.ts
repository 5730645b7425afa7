import { BoundedMap } from '../shared/boundedMap';
import { clock, wait } from '../shared/clock';

const PAUSE_MS = 3_000;
/** A sender waits about ten seconds, and the task takes time too. */
const LONGEST_HOLD_MS = 3_500;
const MOST_SUBJECTS = 1_000;

/** A notice that asks for a task to run. */
export interface Asking {
	/** One task per subject runs at a time. */
	subject: string;
	/** What the notice says about the subject. */
	claim?: string;
	/** Runs during a pause too. */
	urgent?: boolean;
}

/** What a task found. */
export interface Landing<T> {
	result: T;
	/** The result for a notice that comes meanwhile; undefined if it needs a run of its own. */
	share?: (claim: string | undefined) => T | undefined;
}

/** A run of a task. */
interface Flight<T> {
	/** Undefined once it has landed. */
	inFlight?: { claim?: string; landed: Promise<void> };
	/** Whether a second notice is held until the next run may start. */
	hasHeld: boolean;
	/** When the next run may start. */
	freeAt: number;
	share?: Landing<T>['share'];
}

/**
 * Runs one task per subject at a time, with a pause after each, so that a flood of notices about one
 * transaction costs one request. A notice that claims what the last run saw shares its result; one that
 * claims something else is held until the pause is over; all others have to come again.
 */
export class SingleFlight<T> {
	private readonly flights = new BoundedMap<Flight<T>>({
		most: MOST_SUBJECTS,
		isOver: ({ inFlight, freeAt }) => !inFlight && freeAt <= clock.elapsed(),
		isKept: ({ inFlight }) => inFlight !== undefined,
	});

	/** @param pausesAfterFailure whether a failed task is followed by a pause, or leaves no trace */
	constructor(private readonly pausesAfterFailure: boolean) {}

	/** Runs the task, or shares the last result; undefined if the sender has to come again. */
	async run(asking: Asking, task: () => Promise<Landing<T>>): Promise<T | undefined> {
		const { subject, claim, urgent } = asking;
		const askedAt = clock.elapsed();
		for (;;) {
			const flight = this.flights.get(subject);
			const shared = flight?.share?.(claim);
			if (shared !== undefined) return shared;
			if (!flight || (urgent && !flight.inFlight)) return await this.start(asking, task);
			const isSameNotice = flight.inFlight !== undefined && flight.inFlight.claim === claim;
			const isLate = clock.elapsed() - askedAt > LONGEST_HOLD_MS;
			if (flight.hasHeld || isSameNotice || isLate) return undefined;
			flight.hasHeld = true;
			await (flight.inFlight?.landed ?? wait(flight.freeAt - clock.elapsed()));
			flight.hasHeld = false;
		}
	}

	/**
	 * Subjects in flight or in a pause, the latest to land last.
	 *
	 * @internal
	 */
	get subjects(): string[] {
		return this.flights.list().map(([subject]) => subject);
	}

	clear(): void {
		this.flights.clear();
	}

	private async start({ subject, claim }: Asking, task: () => Promise<Landing<T>>): Promise<T> {
		let land: () => void = () => undefined;
		const landed = new Promise<void>((resolve) => (land = resolve));
		const flight: Flight<T> = { inFlight: { claim, landed }, hasHeld: false, freeAt: 0 };
		this.flights.set(subject, flight);
		let pauses = this.pausesAfterFailure;
		try {
			const { result, share } = await task();
			flight.share = share;
			pauses = true;
			return result;
		} finally {
			flight.inFlight = undefined;
			flight.freeAt = clock.elapsed() + PAUSE_MS;
			if (pauses) this.flights.set(subject, flight);
			else this.flights.delete(subject);
			land();
		}
	}
}
