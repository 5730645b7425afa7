import type { IDataObject } from 'n8n-workflow';
import type { Redactor } from '../../../nodes/DigitalSales/api/redact';
import { readProductPage } from '../../../nodes/DigitalSales/api/schemas/product';
import { readTransaction } from '../../../nodes/DigitalSales/api/schemas/transaction';
import { parseNotification } from '../../../nodes/DigitalSales/api/schemas/notification';
import { isJsonObject } from '../../../nodes/DigitalSales/shared/json';
import type { Answer, Received } from './outside';

/** Fields whose values identify a person or something in the account, or are secret. */
const TELLING = /hash|name|mail|phone|whatsapp|document|token|^id$|^transaction$/i;
/** Matches names of fields, headers, statuses and content types. */
const WORD = /^_?[a-z]+\d{0,2}(?:[_.+/-](?:[a-z]+\d{0,2}|\d{1,3}))*$/i;
/** Fields whose values are words of the service, not of a person. */
const SPOKEN = /^(event|status|payment_status|method|payment_method|type|interval)$/;
const LONGEST_WORD = 40;
const SHORTEST_VALUE = 4;

/**
 * Reports the answers of the service: statuses, limits, and the names and kinds in each body. It shows a word only if
 * the word looks like the name of a field, a header or a status, and is not an identifying value of any body.
 */
export class Report {
	private readonly telling = new Set<string>();
	private readonly sections: Array<() => string> = [];

	/** @param own more values that are not shown */
	constructor(
		private readonly redact: Redactor,
		own: unknown[],
	) {
		this.collect(own, 'hash');
	}

	/** `more` follows the status. */
	add(what: string, { status, headers, json, fault }: Answer, more = ''): void {
		this.collect(json);
		const limits = Object.entries(headers).filter(
			([name, value]) => /rate-?limit|retry-after/.test(name) && /^\d{1,10}$/.test(value),
		);
		this.sections.push(() => {
			const said = [
				status === 0 ? `no answer (${fault})` : `${status}${json === undefined ? ', no JSON' : ''}`,
				...limits.map(([name, value]) => `${this.shown(name)}: ${value}`),
				...(more === '' ? [] : [more]),
			].join('; ');
			return `## ${what}\n\n${said}\n\n${this.shape(json)}`;
		});
	}

	/** Compares a page of products with the first page. */
	addPage(what: string, answer: Answer, first: IDataObject[]): void {
		const page = readProductPage(answer.json);
		const hashes = (products: IDataObject[]) => products.map(({ hash }) => String(hash)).join();
		const isSame = page && hashes(page.data) === hashes(first);
		this.add(
			what,
			// The section of the first page shows the shape.
			{ ...answer, json: page ? {} : answer.json },
			page && `${page.data.length} products, ${isSame ? 'the same' : 'others'}`,
		);
		this.collect(answer.json);
	}

	addTransaction(what: string, answer: Answer): void {
		const isRead = readTransaction(answer.json) !== undefined;
		this.add(what, answer, `the package reads ${isRead ? 'a' : 'no'} transaction from it`);
	}

	/** `others` is the number of other requests. */
	addWebhook(notice: Received | undefined, others: number): void {
		if (!notice) {
			this.sections.push(() => `## The webhook\n\nNone came; other requests: ${others}`);
			return;
		}
		const { method, contentType, headers, query, body } = notice;
		const read = parseNotification(body);
		const told = Object.entries(read ?? {}).flatMap(([name, value]) => (value ? [name] : []));
		this.collect(body);
		this.collect(read?.hash, 'hash');
		this.sections.push(() => {
			const said = [
				`${method}, ${this.shown(contentType)}`,
				`headers: ${headers.map(this.shown).join(', ')}`,
				`query: ${query.map(this.shown).join(', ') || 'none'}`,
				`the package reads from it: ${told.join(', ') || 'nothing'}`,
				`other requests: ${others}`,
			];
			return `## The webhook\n\n${said.join('; ')}\n\n${this.shape(body)}`;
		});
	}

	/** The report in Markdown. Call it at the end, when all identifying values are known. */
	text(): string {
		return ['# First contact', ...this.sections.map((section) => section())].join('\n\n');
	}

	private readonly shown = (word: string): string => {
		const parts = [word, ...word.split(/[_.+/-]/)].map((part) => part.toLowerCase());
		const isShown =
			word.length <= LONGEST_WORD &&
			WORD.test(word) &&
			this.redact.text(word) === word &&
			!parts.some((part) => this.telling.has(part));
		return isShown ? word : '[removed]';
	};

	private shape(json: unknown): string {
		return `\`\`\`json\n${JSON.stringify(this.kinds(json), null, 2) ?? ''}\n\`\`\``;
	}

	private kinds(value: unknown, name = ''): unknown {
		if (Array.isArray(value)) return value.slice(0, 1).map((entry) => this.kinds(entry, name));
		if (isJsonObject(value)) {
			return Object.fromEntries(
				Object.entries(value).map(([key, entry]) => [this.shown(key), this.kinds(entry, key)]),
			);
		}
		if (SPOKEN.test(name) && typeof value === 'string') return `a text: ${this.shown(value)}`;
		if (typeof value === 'number')
			return Number.isSafeInteger(value) ? 'a whole number' : 'a number';
		return value === null ? 'null' : typeof value === 'string' ? 'a text' : typeof value;
	}

	private collect(value: unknown, name = ''): void {
		if (Array.isArray(value)) {
			for (const entry of value) this.collect(entry, name);
		} else if (isJsonObject(value)) {
			for (const [key, entry] of Object.entries(value)) this.collect(entry, key);
		} else if (TELLING.test(name) && (typeof value === 'string' || typeof value === 'number')) {
			const whole = String(value).trim().toLowerCase();
			for (const part of [whole, ...whole.split(/\s+/)]) {
				if (part.length >= SHORTEST_VALUE) this.telling.add(part);
			}
		}
	}
}
