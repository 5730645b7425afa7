import { BoundedMap } from '../shared/processWide';
import { clock, wait } from '../shared/clock';

const PAUSE_MS = 3_000;
/** For how long a sender is held: it waits about ten seconds, and the task takes time too. */
const LONGEST_QUEUED_MS = 3_500;
const MOST_KEYS = 1_000;

/** A request that needs the result of a task: a notice, or a ping of our own. */
export interface Caller {
	/** One task per key runs at a time. */
	key: string;
	/** What it claims. While a task runs, a second caller with the same content is a duplicate. */
	content?: string;
	/** A ping of our own: it skips the pause, and is held for as long as a task runs, since no sender waits. */
	isPing?: boolean;
}

/** What a task found. */
export interface TaskResult<T> {
	result: T;
	/** The result for a later notice, by its content; undefined if that needs a run of its own. */
	resultFor?: (content: string | undefined) => T | undefined;
}

/** The latest run of the task of a key. */
interface Run<T> {
	/** Undefined once the task has ended. */
	inFlight?: { content?: string; ended: Promise<void> };
	/** Whether a notice waits for the next run; only one may. */
	isAwaited: boolean;
	/** When the next run may start. */
	pausedUntil: number;
	resultFor?: TaskResult<T>['resultFor'];
}

/**
 * Runs one task per key at a time, with a pause after each, so that a flood of notices about one
 * transaction costs one request. A caller that the last result answers takes it. Of the others one may
 * wait for the next run, unless it is a duplicate or waits too long; the rest have to come again.
 */
export class SingleFlight<T> {
	private readonly runs = new BoundedMap<Run<T>>({
		most: MOST_KEYS,
		isOver: ({ inFlight, pausedUntil }) => !inFlight && pausedUntil <= clock.elapsed(),
		isKept: ({ inFlight }) => inFlight !== undefined,
	});

	constructor(
		private readonly options: {
			/** Whether a failed task is followed by a pause, too, or leaves no trace. */
			pausesAfterFailure: boolean;
		},
	) {}

	/** Runs the task, or takes the last result; undefined if the sender has to come again. */
	async run(caller: Caller, task: () => Promise<TaskResult<T>>): Promise<T | undefined> {
		const { key, content, isPing } = caller;
		const calledAt = clock.elapsed();
		for (;;) {
			const last = this.runs.get(key);
			const known = last?.resultFor?.(content);
			if (known !== undefined) return known;
			if (!last || (isPing && !last.inFlight)) return await this.start(caller, task);
			const isDuplicate = last.inFlight !== undefined && last.inFlight.content === content;
			const leftMs = calledAt + LONGEST_QUEUED_MS - clock.elapsed();
			if (last.isAwaited || isDuplicate || leftMs <= 0) return undefined;
			last.isAwaited = true;
			if (!last.inFlight) await wait(last.pausedUntil - clock.elapsed());
			else if (isPing) await last.inFlight.ended;
			else await Promise.race([last.inFlight.ended, clock.sleep(leftMs)]);
			last.isAwaited = false;
		}
	}

	/**
	 * Keys in flight or in a pause, the latest to end last.
	 *
	 * @internal
	 */
	get keys(): string[] {
		return this.runs.list().map(([key]) => key);
	}

	clear(): void {
		this.runs.clear();
	}

	private async start({ key, content }: Caller, task: () => Promise<TaskResult<T>>): Promise<T> {
		let end: () => void = () => undefined;
		const ended = new Promise<void>((resolve) => (end = resolve));
		const run: Run<T> = { inFlight: { content, ended }, isAwaited: false, pausedUntil: 0 };
		this.runs.set(key, run);
		let pauses = this.options.pausesAfterFailure;
		try {
			const { result, resultFor } = await task();
			run.resultFor = resultFor;
			pauses = true;
			return result;
		} finally {
			run.inFlight = undefined;
			run.pausedUntil = clock.elapsed() + PAUSE_MS;
			if (pauses) this.runs.set(key, run);
			else this.runs.delete(key);
			end();
		}
	}
}
