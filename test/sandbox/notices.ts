import { setMaxListeners } from 'node:events';
import { pause } from './clock';
import type { FaultBook } from './faults';
import type { Settings } from './options';
import { noticeBody, type NoticeShape } from './shapes';
import type { StoredTransaction } from './types';

const KEPT_ANSWER = 500;
const ANSWER_WITHIN_MS = 10_000;

/** Where a notification may go: the sandbox talks to this machine alone. */
const LOOPBACK = /^http:\/\/(localhost|[\w.-]+\.localhost|127(\.\d+){3}|\[::1\])(:\d+)?(\/|$)/i;

export interface DeliveryReport {
	hash: string;
	/** The status the notice speaks of. */
	payment_status: string;
	url: string;
	/** 1 for the first; re-sends count on. */
	attempt: number;
	/** Epoch ms. */
	at: number;
	/** `refused`: answered, not 2xx. `failed`: no answer. `lost`: never sent, by a fault. */
	outcome: 'delivered' | 'refused' | 'failed' | 'lost';
	/** Status code of the answer. */
	status: number | null;
	/** The beginning of the answer, or why there is none. */
	answer: string;
}

type Result = Pick<DeliveryReport, 'outcome' | 'status' | 'answer'>;

interface Notice {
	about: Pick<DeliveryReport, 'hash' | 'payment_status' | 'url'>;
	body: object;
	/** Aborted by a reset: what belongs to a state that is gone is not sent any more. */
	signal: AbortSignal;
}

/** Posts JSON once, without following redirects; never rejects. */
async function post({ about: { url }, body, signal }: Notice): Promise<Result> {
	try {
		if (!LOOPBACK.test(url)) throw new Error('Only addresses of this machine are notified');
		const response = await fetch(url, {
			method: 'POST',
			redirect: 'manual',
			signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]),
			// A pooled connection would outlive the sandbox.
			headers: { 'content-type': 'application/json', connection: 'close' },
			body: JSON.stringify(body),
		});
		const answer = (await response.text()).slice(0, KEPT_ANSWER);
		return { outcome: response.ok ? 'delivered' : 'refused', status: response.status, answer };
	} catch (error) {
		return { outcome: 'failed', status: null, answer: String(error) };
	}
}

/** Sends notifications and re-sends them until they are answered 2xx. */
export class Notifier {
	readonly deliveries: DeliveryReport[] = [];
	private abort = new AbortController();

	constructor(
		private readonly settings: Settings,
		private readonly faults: FaultBook,
	) {
		this.reset();
	}

	/** Tells the notification address of the current status; the reports are of first attempts. */
	async announce(stored: StoredTransaction): Promise<DeliveryReport[]> {
		if (stored.postback_url === '') return [];
		const notice = this.write(stored, 'envelope', stored.postback_url);
		if (!this.faults.strikeNotice()) return [await this.attempt(notice, 1)];
		return [this.report(notice, 1, { outcome: 'lost', status: null, answer: '' })];
	}

	/** One notice by hand: sent once, untouched by faults. */
	async send(
		stored: StoredTransaction,
		{ shape = 'envelope', url = stored.postback_url }: { shape?: NoticeShape; url?: string },
	): Promise<DeliveryReport> {
		const notice = this.write(stored, shape, url);
		return this.report(notice, 1, await post(notice));
	}

	/** Drops what is under way and what is scheduled. */
	reset(): void {
		this.abort.abort();
		this.abort = new AbortController();
		setMaxListeners(0, this.abort.signal);
		this.deliveries.length = 0;
	}

	private write(stored: StoredTransaction, shape: NoticeShape, url: string): Notice {
		const { hash, payment_status } = stored;
		// The body is made here: a re-send repeats what was true when the notice was written.
		const body = noticeBody(stored, shape);
		return { about: { hash, payment_status, url }, body, signal: this.abort.signal };
	}

	private async attempt(notice: Notice, attempt: number): Promise<DeliveryReport> {
		const report = this.report(notice, attempt, await post(notice));
		const seconds = this.settings.resendAfterSeconds[attempt - 1];
		if (report.outcome !== 'delivered' && seconds !== undefined) {
			const again = async (): Promise<unknown> => await this.attempt(notice, attempt + 1);
			void pause(seconds * 1000, notice.signal).then(again, () => undefined);
		}
		return report;
	}

	private report({ about, signal }: Notice, attempt: number, result: Result): DeliveryReport {
		const report = { ...about, attempt, at: Date.now(), ...result };
		if (!signal.aborted) this.deliveries.push(report);
		return report;
	}
}
