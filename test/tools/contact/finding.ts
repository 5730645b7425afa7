import { randomBytes } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';
import { saysFailure } from '../../../nodes/DigitalSales/api/schemas/error';
import { type ProductPage, readProductPage } from '../../../nodes/DigitalSales/api/schemas/product';
import {
	readTransaction,
	type Transaction,
} from '../../../nodes/DigitalSales/api/schemas/transaction';
import { hashSegment } from '../../../nodes/DigitalSales/domain/hash';
import { searchKey } from '../../../nodes/DigitalSales/domain/text';
import { isJsonObject } from '../../../nodes/DigitalSales/shared/json';
import type { Shown } from './documented';
import type { Heard } from './listen';
import { type Answer, isSuccess, refusesToken, type Service, statusOf } from './service';
import { EXIT, Refusal } from './settings';

/** A page of the catalog, as the package reads it; undefined if it is none. */
export interface Listed {
	answer: Answer;
	page: ProductPage | undefined;
}

/** A filter that was sent, and what it should have found. */
export interface Filtered<T> extends Listed {
	wanted: T;
}

export interface ReadTransaction {
	hash: string;
	answer: Answer;
	transaction: Transaction | undefined;
}

/** A transaction that was read, and the same hash with its letters in the other case. */
export interface KnownTransaction extends ReadTransaction {
	/** Whether this command charged it. */
	isOwn: boolean;
	otherCase?: ReadTransaction;
}

/** What the service answers to reads alone. A read that the catalog gives no occasion for is left out. */
export interface Survey {
	list: Listed;
	/** All that any answer held. */
	products: IDataObject[];
	single?: Listed;
	second?: Listed;
	large?: Listed;
	search?: Filtered<{ word: string; hash: string }>;
	plainSearch?: Filtered<{ word: string; hash: string }>;
	status?: Filtered<number>;
	categories?: Filtered<number[]>;
	unknownHash: ReadTransaction;
	noToken: Answer;
}

/** Sends every read that can tell something: eight for products at most, each again after a 429. */
export async function survey(service: Service): Promise<Survey> {
	const list = listed(await service.get('GET /products', '/products', { isPatient: false }));
	refuseUnusable(list.answer, list.page);
	const products = list.page?.data ?? [];
	const ask = async (query: Record<string, string>): Promise<Listed> =>
		listed(await service.get('GET /products', '/products', { query }));
	const result: Survey = {
		list,
		products,
		unknownHash: await read(service, `nosuch${randomBytes(5).toString('hex')}`),
		noToken: await service.get('GET /transactions/{hash}', '/transactions/nosuch', {
			withToken: false,
		}),
	};
	if (products.length === 0) return result;
	if (products.length > 1) result.single = await ask({ per_page: '1' });
	result.second = await ask({ page: '2' });
	result.large = await ask({ per_page: String(LARGE_PAGE) });
	result.products = distinct([list, result.second, result.large]);
	const wanted = searchedFor(products);
	if (wanted) {
		result.search = { ...(await ask({ search: wanted.word })), wanted };
		const plain = { ...wanted, word: searchKey(wanted.word) };
		if (isAccented(wanted.word)) {
			result.plainSearch = { ...(await ask({ search: plain.word })), wanted: plain };
		}
	}
	const [common, another] = valuesOf(products, 'status');
	// If all products have one status, another one finds nothing, and that tells as much.
	const status = another ?? (common === 4 ? 2 : 4);
	result.status = { ...(await ask({ status: String(status) })), wanted: status };
	const categories = valuesOf(products, 'id_category');
	if (categories.length > 1) {
		const some = categories.slice(0, Math.min(2, categories.length - 1));
		result.categories = { ...(await ask({ categories: some.join(',') })), wanted: some };
	}
	return result;
}

/** As many as the package asks for. */
export const LARGE_PAGE = 250;

/** Reads a transaction, and the same hash in the other case. */
export async function readBothCases(
	service: Service,
	hash: string,
	isOwn: boolean,
): Promise<KnownTransaction> {
	const known = { ...(await read(service, hash)), isOwn };
	const other = hash.replace(/[a-z]/gi, (letter) =>
		letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
	);
	if (!known.transaction || other === hash) return known;
	return { ...known, otherCase: await read(service, other) };
}

async function read(service: Service, hash: string): Promise<ReadTransaction> {
	const answer = await service.get(
		'GET /transactions/{hash}',
		`/transactions/${hashSegment(hash)}`,
	);
	return {
		hash,
		answer,
		transaction: isSuccess(answer) ? readTransaction(answer.json) : undefined,
	};
}

function listed(answer: Answer): Listed {
	return { answer, page: isSuccess(answer) ? readProductPage(answer.json) : undefined };
}

function distinct(pages: Listed[]): IDataObject[] {
	const products = pages.flatMap(({ page }) => page?.data ?? []);
	return [...new Map(products.map((product) => [String(product.hash), product])).values()];
}

/** Ends the command if the very first answer shows that there is nothing to compare. */
function refuseUnusable(answer: Answer, page: ProductPage | undefined): void {
	const { status, json, headers, fault } = answer;
	const how = statusOf(answer);
	if (status === 0) {
		throw new Refusal(
			EXIT.down,
			`The service does not answer (${fault}). Check DIGITAL_SALES_BASE_URL.`,
		);
	}
	if (status === 429) {
		const after = headers['retry-after'] ?? '';
		const wait = /^\d{1,6}$/.test(after) ? `${after} seconds` : 'a minute';
		throw new Refusal(
			EXIT.rateLimited,
			`Rate limit reached (429) at the first request. Run this again in ${wait}.`,
		);
	}
	if (refusesToken(answer)) {
		throw new Refusal(
			EXIT.token,
			`The service does not accept DIGITAL_SALES_TOKEN (${how}). Copy it again from the service.`,
		);
	}
	if (status >= 500 || (status < 300 && saysFailure(json)))
		throw new Refusal(EXIT.down, `The service returned an error (${how}). Try again later.`);
	const isList = page !== undefined || holdsList(json);
	const isRefusal = status >= 400 && ![404, 405].includes(status) && json !== undefined;
	if (status < 300 ? !isList : !isRefusal) {
		const firewall = status === 403 ? ', or ask whether a firewall refuses this machine' : '';
		throw new Refusal(
			EXIT.path,
			`There is no API under this address (${how}). Check the path in DIGITAL_SALES_BASE_URL${firewall}.`,
		);
	}
}

/** Whether it may be a list of products in a shape of its own. */
function holdsList(value: unknown): boolean {
	return Array.isArray(value) || (isJsonObject(value) && Object.values(value).some(holdsList));
}

/** A word of a title that not every product has, with accents if there is one. */
function searchedFor(products: IDataObject[]): { word: string; hash: string } | undefined {
	const titles = products.map(({ title }) => searchKey(typeof title === 'string' ? title : ''));
	const isSelective = (word: string): boolean =>
		titles.some((title) => !title.includes(searchKey(word)));
	const words = products.flatMap(({ title, hash }) =>
		typeof title === 'string'
			? title
					.split(/[^\p{L}\p{N}\p{M}]+/u)
					.filter((word) => word.length > 3 && isSelective(word))
					.map((word) => ({ word: word.normalize('NFC'), hash: String(hash) }))
			: [],
	);
	return words.find(({ word }) => isAccented(word)) ?? words[0];
}

function isAccented(word: string): boolean {
	return searchKey(word) !== word.toLowerCase();
}

/** The different numbers under a name, in the order of the catalog. */
function valuesOf(products: IDataObject[], name: string): number[] {
	const values = products.map((product) => Number(product[name]));
	return [...new Set(values)].filter((value) => Number.isSafeInteger(value));
}

export type Verdict = 'contradicted' | 'confirmed' | 'untold';

export interface Finding {
	verdict: Verdict;
	/** What was seen, or why nothing can be seen; a sentence without a full stop. */
	seen: string;
}

/** What a POST was answered. */
export interface Created {
	answer: Answer;
	body: Record<string, unknown>;
}

/** Everything that was sent and answered. */
export interface Gathered extends Survey {
	service: Service;
	transactions: KnownTransaction[];
	/** `none` if no offer could be charged. */
	charge?: Created | 'none';
	offer?: Created;
	/** Whether the body of the charge had a token of its own. */
	hasSecondToken: boolean;
	/** What --listen heard. */
	heard?: Heard;
}

export interface Evidence extends Gathered {
	shown: Shown;
}

export const confirmed = (seen: string): Finding => ({ verdict: 'confirmed', seen });
export const contradicted = (seen: string): Finding => ({ verdict: 'contradicted', seen });
export const untold = (seen: string): Finding => ({ verdict: 'untold', seen });

/** One finding of several parts: it is confirmed only if each of them is, and names them all. */
export function together(parts: Finding[], without: string): Finding {
	const sorted = (['contradicted', 'untold', 'confirmed'] as const).flatMap((verdict) =>
		parts.filter((part) => part.verdict === verdict),
	);
	const [first] = sorted;
	if (!first) return untold(without);
	const seen = new Set(sorted.map((part) => part.seen));
	return { verdict: first.verdict, seen: [...seen].join('; ') };
}
