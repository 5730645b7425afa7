import { setMaxListeners } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import type { SandboxClock } from './clock';
import type { FaultBook } from './faults';
import type { Settings } from './options';
import { noticeBody, type NoticeShape } from './shapes';
import type { StoredTransaction } from './types';

export interface PostResult {
	/** Null if there was no answer. */
	status: number | null;
	answer: string;
	error: string | null;
	timedOut: boolean;
}

const KEPT_ANSWER = 500;
const ANSWER_WITHIN_MS = 10_000;

/** Whether a notification may go there: the sandbox talks to this machine alone. */
function isLoopback(address: string): boolean {
	if (!URL.canParse(address)) return false;
	const { protocol, hostname } = new URL(address);
	if (protocol !== 'http:' && protocol !== 'https:') return false;
	return (
		hostname === 'localhost' ||
		hostname.endsWith('.localhost') ||
		hostname === '[::1]' ||
		/^127\.\d+\.\d+\.\d+$/.test(hostname)
	);
}

/** Posts JSON once, without following redirects; never rejects. */
async function postJson(
	url: string,
	body: object,
	timeoutMs: number,
	signal: AbortSignal,
): Promise<PostResult> {
	const text = JSON.stringify(body);
	const target = new URL(url);
	const secure = target.protocol === 'https:';
	const deadline = AbortSignal.timeout(timeoutMs);
	return await new Promise((resolve) => {
		const fail = (error: Error): void => {
			const timedOut = deadline.aborted && !signal.aborted;
			const message = timedOut ? `No answer within ${timeoutMs} ms` : error.message;
			resolve({ status: null, answer: '', error: message, timedOut });
		};
		const request = (secure ? https : http).request(target, {
			method: 'POST',
			// A pooled connection would outlive the sandbox.
			agent: false,
			signal: AbortSignal.any([signal, deadline]),
			headers: {
				'content-type': 'application/json',
				accept: 'application/json',
				'content-length': Buffer.byteLength(text),
				'user-agent': 'GuzzleHttp/7',
			},
			...(secure ? { rejectUnauthorized: false } : {}),
		});
		request.on('error', fail);
		request.on('response', (response) => {
			let answer = '';
			response.setEncoding('utf8');
			response.on('data', (chunk: string) => {
				if (answer.length < KEPT_ANSWER) answer += chunk.slice(0, KEPT_ANSWER);
			});
			response.on('error', fail);
			response.on('end', () => {
				resolve({ status: response.statusCode ?? null, answer, error: null, timedOut: false });
			});
		});
		request.end(text);
	});
}

export interface DeliveryReport {
	hash: string;
	/** The status the notice speaks of. */
	payment_status: string;
	shape: NoticeShape;
	url: string;
	/** 1 for the first; re-sends count on. */
	attempt: number;
	/** Epoch ms. */
	at: number;
	/**
	 * `refused`: answered, not 2xx. `failed`: no answer. `undeliverable`: no address, or one that is
	 * not on this machine. `lost`: never sent, by a fault.
	 */
	outcome: 'delivered' | 'refused' | 'failed' | 'timeout' | 'undeliverable' | 'lost';
	/** Status code of the answer. */
	status: number | null;
	/** The beginning of the answer. */
	answer: string;
	error: string | null;
	durationMs: number;
	/** Epoch ms of the next attempt; null if none will follow. */
	nextAttemptAt: number | null;
}

interface Notice {
	hash: string;
	paymentStatus: string;
	shape: NoticeShape;
	url: string;
	body: object;
	resend: boolean;
	/** Aborted by a reset: what belongs to a state that is gone is not sent any more. */
	signal: AbortSignal;
}

const KEPT_REPORTS = 2000;

/** Sends notifications and re-sends them until they are answered 2xx. */
export class Notifier {
	readonly deliveries: DeliveryReport[] = [];
	private readonly timers = new Set<NodeJS.Timeout>();
	private abort = freshController();

	constructor(
		private readonly settings: Settings,
		private readonly clock: SandboxClock,
		private readonly faults: FaultBook,
	) {}

	/** Tells the notification address of the current status; the reports are of first attempts. */
	async announce(stored: StoredTransaction, shape?: NoticeShape): Promise<DeliveryReport[]> {
		if (stored.postback_url === '') return [];
		const notice = this.write(stored, { shape, resend: true });
		if (this.faults.strikeNotice()) return [this.report(notice, 1, 'lost')];
		return [await this.attempt(notice, 1)];
	}

	/** One notice by hand: sent once, untouched by faults. */
	async send(
		stored: StoredTransaction,
		options: { shape?: NoticeShape | undefined; url?: string | undefined },
	): Promise<DeliveryReport> {
		return await this.attempt(this.write(stored, { ...options, resend: false }), 1);
	}

	/** Drops what is under way and what is scheduled. */
	reset(): void {
		this.stop();
		this.abort = freshController();
		this.deliveries.length = 0;
	}

	/** For good: nothing is sent after this. */
	stop(): void {
		this.abort.abort();
		for (const timer of this.timers) clearTimeout(timer);
		this.timers.clear();
	}

	private write(
		stored: StoredTransaction,
		options: { shape?: NoticeShape | undefined; url?: string | undefined; resend: boolean },
	): Notice {
		const shape = options.shape ?? this.settings.noticeShape;
		return {
			hash: stored.hash,
			paymentStatus: stored.payment_status,
			shape,
			url: options.url ?? stored.postback_url,
			// Fixed here: a re-send repeats what was true when the notice was written.
			body: noticeBody(stored, shape),
			resend: options.resend,
			signal: this.abort.signal,
		};
	}

	private async attempt(notice: Notice, attempt: number): Promise<DeliveryReport> {
		if (!isLoopback(notice.url)) {
			const error = notice.url === '' ? 'No notification address' : 'Only loopback addresses';
			return this.report(notice, attempt, 'undeliverable', { error });
		}
		const { signal } = notice;
		const at = Date.now();
		const result = await postJson(notice.url, notice.body, ANSWER_WITHIN_MS, signal);
		const outcome = outcomeOf(result);
		const { status, answer, error } = result;
		const durationMs = Date.now() - at;
		const report = this.report(notice, attempt, outcome, { at, status, answer, error, durationMs });
		if (outcome !== 'delivered' && notice.resend && !signal.aborted) {
			report.nextAttemptAt = this.schedule(notice, attempt);
		}
		return report;
	}

	private schedule(notice: Notice, attempt: number): number | null {
		const seconds = this.settings.resendAfterSeconds[attempt - 1];
		if (seconds === undefined) return null;
		const wait = this.clock.toReal(seconds * 1000);
		const timer = setTimeout(() => {
			this.timers.delete(timer);
			void this.attempt(notice, attempt + 1);
		}, wait);
		this.timers.add(timer);
		return Date.now() + Math.round(wait);
	}

	private report(
		notice: Notice,
		attempt: number,
		outcome: DeliveryReport['outcome'],
		details: Partial<DeliveryReport> = {},
	): DeliveryReport {
		const report: DeliveryReport = {
			hash: notice.hash,
			payment_status: notice.paymentStatus,
			shape: notice.shape,
			url: notice.url,
			attempt,
			at: Date.now(),
			outcome,
			status: null,
			answer: '',
			error: null,
			durationMs: 0,
			nextAttemptAt: null,
			...details,
		};
		if (notice.signal.aborted) return report;
		this.deliveries.push(report);
		if (this.deliveries.length > KEPT_REPORTS) this.deliveries.shift();
		return report;
	}
}

function outcomeOf({ status, timedOut }: PostResult): DeliveryReport['outcome'] {
	if (status === null) return timedOut ? 'timeout' : 'failed';
	return status >= 200 && status < 300 ? 'delivered' : 'refused';
}

function freshController(): AbortController {
	const controller = new AbortController();
	// Every notice under way listens, and there may be hundreds.
	setMaxListeners(0, controller.signal);
	return controller;
}
