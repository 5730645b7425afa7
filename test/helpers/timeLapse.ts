import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import timers, { setImmediate as turn } from 'node:timers/promises';
import { runInThisContext } from 'node:vm';

/** The connections that this process has with itself: both ends of each, by the ports of the two. */
const ends = { client: new Set<Socket>(), server: new Map<string, Socket>() };
/** The ports of the connections whose caller is known: Node does not tell of one that begins with TLS. */
const called = new Set<string>();
/** The bytes of all others, as of the last look. */
let movedBefore = 0;

// Each channel hands over an object with the new socket.
const addClient = (message: unknown): void => {
	const { socket } = message as { socket: Socket };
	ends.client.add(socket);
	socket.once('connect', () => called.add(`${socket.localPort} ${socket.remotePort}`));
	socket.once('close', () => ends.client.delete(socket));
};
const addServer = (message: unknown): void => {
	const { socket } = message as { socket: Socket };
	const ports = `${socket.remotePort} ${socket.localPort}`;
	ends.server.set(ports, socket);
	socket.once('close', () => {
		ends.server.delete(ports);
		called.delete(ports);
	});
};

subscribe('net.client.socket', addClient);
subscribe('net.server.socket', addServer);
afterAll(() => {
	unsubscribe('net.client.socket', addClient);
	unsubscribe('net.server.socket', addServer);
});

/**
 * Whether anything is on its way between two ends of a connection: a call that has not been taken, a
 * byte that one end has written and the other has not received, a farewell that only one of them knows.
 */
function isUnderWay(): boolean {
	for (const client of ends.client) {
		const server = ends.server.get(`${client.localPort} ${client.remotePort}`);
		if (client.connecting || !server) return true;
		if (client.bytesWritten !== server.bytesRead) return true;
		if (server.bytesWritten !== client.bytesRead) return true;
	}
	const strangers = [...ends.server].filter(([ports]) => !called.has(ports));
	const moved = strangers.reduce(
		(sum, [, { bytesRead, bytesWritten }]) => sum + bytesRead + bytesWritten,
		0,
	);
	const moves = moved !== movedBefore;
	movedBefore = moved;
	return moves || ends.client.size !== ends.server.size - strangers.length;
}

/** Turns of the event loop in a row that have to find nothing to do. */
const QUIET_TURNS = 3;

/** What a turn of the event loop to come has to do, by the names that Node gives it. */
const WORK = /Req|Immediate|(?:Connect|Write|Shutdown)Wrap/;

/** The realm of the test, and that of jest, to which installed packages may belong. */
const REALMS = new Set([globalThis, runInThisContext('globalThis') as typeof globalThis]);

/**
 * Time that stands still while the process has anything to do, and jumps to the next timer as soon as
 * it has nothing. An hour of waiting takes no time; and since work takes none either, what a test
 * measures is exact and the same in each run, however busy the machine is.
 *
 * There is nothing to do if a few turns of the event loop find no callback, no file that is being read,
 * and no byte on its way from one end of a loopback connection to the other. All that the process knows
 * of time changes: `Date.now`, `performance.now` and all timers, those of the sandbox, of n8n's engine
 * and the time-outs of HTTP requests included. It serves tests that talk to nobody outside of the process.
 */
class TimeLapse {
	private passedMs = 0;
	/** In the order in which they fire. */
	private readonly due: Timer[] = [];
	private undo: Array<() => void> = [];
	private isLapsing = false;
	private isDriving = false;

	/** Lets time stand still until something waits for it. */
	begin(): void {
		const date = Date.now();
		const elapsed = Math.floor(performance.now());
		this.isLapsing = true;
		for (const realm of REALMS) {
			const { now } = realm.Date;
			// A mock that is restored too late may bring this back.
			const dateNow = (): number => (this.isLapsing ? date + this.passedMs : now());
			this.replace(realm.Date, 'now', dateNow);
			this.replace(realm.performance, 'now', () => elapsed + this.passedMs);
			this.replace(realm, 'setTimeout', this.setTimeout);
			this.replace(realm, 'setInterval', this.setInterval);
			this.replace(realm, 'clearTimeout', clearing(realm.clearTimeout));
			this.replace(realm, 'clearInterval', clearing(realm.clearInterval));
		}
		this.replace(timers, 'setTimeout', this.pause);
		this.replace(AbortSignal, 'timeout', this.abortAfter);
	}

	/** Goes back to real time; whatever is still waiting is left. */
	end(): void {
		for (const undo of this.undo.reverse()) undo();
		this.undo = [];
		this.due.length = 0;
		this.isLapsing = false;
	}

	/** Puts a timer in its place; real time counts once this has ended. */
	add(timer: Timer, milliseconds: number): void {
		if (!this.isLapsing) return void setTimeout(timer.fire, milliseconds).unref();
		// As a timer does: never at once.
		timer.at = this.passedMs + Math.max(1, Math.floor(milliseconds));
		const place = this.due.findIndex(({ at }) => at > timer.at);
		this.due.splice(place < 0 ? this.due.length : place, 0, timer);
		if (!this.isDriving) void this.drive();
	}

	remove(timer: Timer): void {
		const place = this.due.indexOf(timer);
		if (place >= 0) this.due.splice(place, 1);
	}

	private async drive(): Promise<void> {
		this.isDriving = true;
		while (this.due.length > 0) {
			await this.quiet();
			const timer = this.due.shift();
			if (!timer) break;
			this.passedMs = timer.at;
			timer.fire();
		}
		this.isDriving = false;
	}

	private async quiet(): Promise<void> {
		for (let turns = 0; turns < QUIET_TURNS && this.due.length > 0; turns++) {
			await turn();
			const works = process.getActiveResourcesInfo().some((name) => WORK.test(name));
			if (works || isUnderWay()) turns = -1;
		}
	}

	private readonly setTimeout = <A extends unknown[]>(
		callback: (...args: A) => void,
		milliseconds = 0,
		...args: A
	): Timer => new Timer(this, () => callback(...args), milliseconds);

	private readonly setInterval = <A extends unknown[]>(
		callback: (...args: A) => void,
		milliseconds = 0,
		...args: A
	): Timer => {
		const timer = this.setTimeout(() => {
			timer.refresh();
			callback(...args);
		}, milliseconds);
		return timer;
	};

	private readonly pause = async <T>(
		milliseconds?: number,
		value?: T,
		{ signal }: { signal?: AbortSignal } = {},
	): Promise<T | undefined> => {
		signal?.throwIfAborted();
		return await new Promise((resolve, reject) => {
			const abort = (): void => {
				timer.close();
				reject(signal?.reason);
			};
			const timer = this.setTimeout(() => {
				signal?.removeEventListener('abort', abort);
				resolve(value);
			}, milliseconds);
			signal?.addEventListener('abort', abort);
		});
	};

	private readonly abortAfter = (milliseconds: number): AbortSignal => {
		const late = new AbortController();
		const reason = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
		this.setTimeout(() => late.abort(reason), milliseconds);
		return late.signal;
	};

	private replace<T extends object>(owner: T, name: keyof T, value: unknown): void {
		const original = Object.getOwnPropertyDescriptor(owner, name);
		Object.defineProperty(owner, name, { value, configurable: true, writable: true });
		this.undo.push(() => {
			if (original) Object.defineProperty(owner, name, original);
			else Reflect.deleteProperty(owner, name);
		});
	}
}

/** What `setTimeout` gives. */
class Timer {
	at = 0;
	private isReferred = true;

	constructor(
		private readonly time: TimeLapse,
		readonly fire: () => void,
		private readonly milliseconds: number,
	) {
		time.add(this, milliseconds);
	}

	refresh(): this {
		this.time.remove(this);
		this.time.add(this, this.milliseconds);
		return this;
	}

	close(): this {
		this.time.remove(this);
		return this;
	}

	ref(): this {
		this.isReferred = true;
		return this;
	}

	unref(): this {
		this.isReferred = false;
		return this;
	}

	hasRef(): boolean {
		return this.isReferred;
	}
}

const clearing =
	(original: typeof clearTimeout) =>
	(timer?: Timer | NodeJS.Timeout): void => {
		if (timer instanceof Timer) timer.close();
		else original(timer);
	};

/** Time that lapses in each test of a block. */
export function useTimeLapse(): void {
	const time = new TimeLapse();
	beforeEach(() => time.begin());
	afterEach(() => time.end());
}
