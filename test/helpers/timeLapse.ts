import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';
import timers, { setImmediate as turn } from 'node:timers/promises';
import { runInThisContext } from 'node:vm';

/** Both ends of each connection that this process has with itself. A server's end is found by the two ports. */
const ends = { client: new Set<Socket>(), server: new Map<string, Socket>() };
/** The ports of connections whose client is known. Node.js does not report a client that uses TLS. */
const withKnownClient = new Set<string>();
/** The bytes of all other connections at the last check. */
let movedBefore = 0;

const addClient = (message: unknown): void => {
	const { socket } = message as { socket: Socket };
	ends.client.add(socket);
	socket.once('connect', () => withKnownClient.add(`${socket.localPort} ${socket.remotePort}`));
	socket.once('close', () => ends.client.delete(socket));
};
const addServer = (message: unknown): void => {
	const { socket } = message as { socket: Socket };
	const ports = `${socket.remotePort} ${socket.localPort}`;
	ends.server.set(ports, socket);
	socket.once('close', () => {
		ends.server.delete(ports);
		withKnownClient.delete(ports);
	});
};

subscribe('net.client.socket', addClient);
subscribe('net.server.socket', addServer);
afterAll(() => {
	unsubscribe('net.client.socket', addClient);
	unsubscribe('net.server.socket', addServer);
});

/**
 * Whether a connection is being opened or closed, or one of its ends has written a byte that the other has not read.
 */
function isUnderWay(): boolean {
	for (const client of ends.client) {
		const server = ends.server.get(`${client.localPort} ${client.remotePort}`);
		if (client.connecting || !server) return true;
		if (client.bytesWritten !== server.bytesRead) return true;
		if (server.bytesWritten !== client.bytesRead) return true;
	}
	const strangers = [...ends.server].filter(([ports]) => !withKnownClient.has(ports));
	const moved = strangers.reduce(
		(sum, [, { bytesRead, bytesWritten }]) => sum + bytesRead + bytesWritten,
		0,
	);
	const moves = moved !== movedBefore;
	movedBefore = moved;
	return moves || ends.client.size !== ends.server.size - strangers.length;
}

/** Time moves after so many turns of the event loop in a row without work. */
const QUIET_TURNS = 3;

/** As if the process had started an hour ago, so that nothing waits for the start of n8n. */
const PROCESS_AGE_MS = 3_600_000;

/** Node's names of resources that mean work in a later turn of the event loop. */
const WORK = /Req|Immediate|(?:Connect|Write|Shutdown)Wrap/;

/** The globals of the test, and the globals of jest, which installed packages may use. */
const REALMS = new Set([globalThis, runInThisContext('globalThis') as typeof globalThis]);

/**
 * Stops time while the process works, and jumps to the next timer once the process has nothing to do. An hour of
 * waiting takes no time, and a measured time is the same in each run, however busy the machine is.
 *
 * The process has nothing to do if a few turns of the event loop find no callback, no file that is being read, and no
 * byte under way in a loopback connection. `Date.now`, `performance.now` and all timers change, also in the sandbox, in
 * n8n's engine and in HTTP requests. The test must not talk to another process.
 */
class TimeLapse {
	private passedMs = 0;
	/** Earliest first. */
	private readonly due: Timer[] = [];
	private undo: Array<() => void> = [];
	private isLapsing = false;
	private isDriving = false;

	begin(): void {
		const date = Date.now();
		const elapsed = Math.floor(performance.now()) + PROCESS_AGE_MS;
		this.isLapsing = true;
		for (const realm of REALMS) {
			const { now } = realm.Date;
			// A mock that is restored after `end` may put this function back.
			const dateNow = (): number => (this.isLapsing ? date + this.passedMs : now());
			this.replace(realm.Date, 'now', dateNow);
			this.replace(realm.performance, 'now', () => elapsed + this.passedMs);
			this.replace(realm, 'setTimeout', this.setTimeout);
			this.replace(realm, 'setInterval', this.setInterval);
			this.replace(realm, 'clearTimeout', clearing(realm.clearTimeout));
			this.replace(realm, 'clearInterval', clearing(realm.clearInterval));
		}
		// Node.js measures a socket's silence in real time, so a busy machine would abort requests that take no time here.
		this.replace(Socket.prototype, 'setTimeout', function (this: Socket) {
			return this;
		});
		this.replace(timers, 'setTimeout', this.pause);
		this.replace(AbortSignal, 'timeout', this.abortAfter);
	}

	/** Restores real time. Timers that have not fired are dropped. */
	end(): void {
		for (const undo of this.undo.reverse()) undo();
		this.undo = [];
		this.due.length = 0;
		this.isLapsing = false;
	}

	/** A timer added after `end` runs in real time. */
	add(timer: Timer, milliseconds: number): void {
		if (!this.isLapsing) return void setTimeout(timer.fire, milliseconds).unref();
		// A timer never fires at once.
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

/** Replaces the result of `setTimeout`. */
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

/** Waiting takes no time in the tests of a block. */
export function useTimeLapse(): void {
	const time = new TimeLapse();
	beforeEach(() => time.begin());
	afterEach(() => time.end());
}
