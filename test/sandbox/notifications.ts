import { setMaxListeners } from 'node:events';
import { pause } from './clock';
import type { FaultBook } from './faults';
import type { Settings } from './options';
import { noticeBody, type NoticeShape } from './shapes';
import type { StoredTransaction } from './types';

const KEPT_ANSWER = 500;
const ANSWER_WITHIN_MS = 10_000;

/** The sandbox sends notifications to addresses of this machine only. */
const LOOPBACK = /^http:\/\/(localhost|[\w.-]+\.localhost|127(\.\d+){3}|\[::1\])(:\d+)?(\/|$)/i;

export interface DeliveryReport {
	hash: string;
	/** The status in the notification. */
	payment_status: string;
	url: string;
	/** 1 for the first attempt. */
	attempt: number;
	/** Epoch ms. */
	at: number;
	/** `refused`: not answered 2xx. `failed`: no answer. `lost`: not sent because of a fault. */
	outcome: 'delivered' | 'refused' | 'failed' | 'lost';
	status: number | null;
	/** The beginning of the answer, or the reason why there is none. */
	answer: string;
}

type Result = Pick<DeliveryReport, 'outcome' | 'status' | 'answer'>;

interface Notice {
	about: Pick<DeliveryReport, 'hash' | 'payment_status' | 'url'>;
	body: object;
	/** A reset aborts it, so that no notification of an earlier state is sent. */
	signal: AbortSignal;
}

/** Posts JSON once, without following redirects; never rejects. */
async function postNotice({ about: { url }, body, signal }: Notice): Promise<Result> {
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

/** Sends notifications, and repeats each until it is answered 2xx. */
export class Notifier {
	readonly deliveries: DeliveryReport[] = [];
	private abort = new AbortController();

	constructor(
		private readonly settings: Settings,
		private readonly faults: FaultBook,
	) {
		this.reset();
	}

	/** Sends the current status to the notification URL. Reports the first attempt. */
	async notifyOfStatus(stored: StoredTransaction): Promise<DeliveryReport[]> {
		if (stored.postback_url === '') return [];
		const notice = this.composeNotice(stored, 'envelope', stored.postback_url);
		if (!this.faults.strikeNotice()) return [await this.attemptDelivery(notice, 1)];
		return [this.addReport(notice, 1, { outcome: 'lost', status: null, answer: '' })];
	}

	/** Sends one notification on request: once, and without faults. */
	async send(
		stored: StoredTransaction,
		{ shape = 'envelope', url = stored.postback_url }: { shape?: NoticeShape; url?: string },
	): Promise<DeliveryReport> {
		const notice = this.composeNotice(stored, shape, url);
		return this.addReport(notice, 1, await postNotice(notice));
	}

	/** Drops notifications in progress and scheduled repetitions. */
	reset(): void {
		this.abort.abort();
		this.abort = new AbortController();
		setMaxListeners(0, this.abort.signal);
		this.deliveries.length = 0;
	}

	private composeNotice(stored: StoredTransaction, shape: NoticeShape, url: string): Notice {
		const { hash, payment_status } = stored;
		// The body is composed once, because a repetition has the status of the first attempt.
		const body = noticeBody(stored, shape);
		return { about: { hash, payment_status, url }, body, signal: this.abort.signal };
	}

	private async attemptDelivery(notice: Notice, attempt: number): Promise<DeliveryReport> {
		const report = this.addReport(notice, attempt, await postNotice(notice));
		const seconds = this.settings.resendAfterSeconds[attempt - 1];
		if (report.outcome !== 'delivered' && seconds !== undefined) {
			const again = async (): Promise<unknown> => await this.attemptDelivery(notice, attempt + 1);
			void pause(seconds * 1000, notice.signal).then(again, () => undefined);
		}
		return report;
	}

	private addReport({ about, signal }: Notice, attempt: number, result: Result): DeliveryReport {
		const report = { ...about, attempt, at: Date.now(), ...result };
		if (!signal.aborted) this.deliveries.push(report);
		return report;
	}
}
