import type { SandboxClock } from '../clock';

import type { FaultBook, StruckFaults } from '../faults/book';
import type { RequestLog } from '../http/requestLog';
import type { Notifier } from '../notices/notifier';
import type { Settings } from '../options';
import type { SandboxState } from '../state';
import type { RateLimiter } from './rateLimit';

/** The parts of a running sandbox, for code that answers a request. */
export interface SandboxParts {
	settings: Settings;
	state: SandboxState;
	clock: SandboxClock;
	faults: FaultBook;
	limiter: RateLimiter;
	log: RequestLog;
	notifier: Notifier;
	/** `http://127.0.0.1:PORT`, known once the sandbox listens. */
	origin: () => string;
}

/** One request as the handlers of the API see it. */
export interface ApiRequest {
	params: Record<string, string>;
	query: Record<string, string>;
	/** Undefined if there is none or it is not JSON. */
	body: unknown;
	faults: StruckFaults;
}
