import { randomBytes } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';
import { readProductPage, type ProductPage } from '../../../nodes/DigitalSales/api/schemas/product';
import {
	readTransaction,
	type Transaction,
} from '../../../nodes/DigitalSales/api/schemas/transaction';
import { hashSegment } from '../../../nodes/DigitalSales/domain/hash';
import { searchKey } from '../../../nodes/DigitalSales/domain/searchText';
import { EXIT, Refusal } from './settings';
import { isSuccess, type Answer, type Service } from './service';

/** A page of the catalog, as the package reads it; undefined if it is none. */
export interface Listed {
	answer: Answer;
	page: ProductPage | undefined;
}

/** A filter that was sent, and what it should have found. */
export interface Filtered<T> extends Listed {
	asked: T;
}

export interface ReadTransaction {
	asked: string;
	answer: Answer;
	transaction: Transaction | undefined;
}

/** A transaction that was read, and the same hash with its letters in the other case. */
export interface KnownTransaction extends ReadTransaction {
	otherCase?: ReadTransaction;
}

/** What the service answers to reads alone. A read that the catalog gives no occasion for is left out. */
export interface Survey {
	list: Listed;
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

/** Asks the service everything that reads can tell: eight requests for products at most. */
export async function survey(service: Service): Promise<Survey> {
	const list = listed(await service.get('GET /products', '/products', { isPatient: false }));
	refuseUnusable(list.answer);
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
	result.single = await ask({ per_page: '1' });
	result.second = await ask({ page: '2' });
	result.large = await ask({ per_page: String(LARGE_PAGE) });
	const wanted = searchedFor(products);
	if (wanted) {
		result.search = { ...(await ask({ search: wanted.word })), asked: wanted };
		const plain = { ...wanted, word: searchKey(wanted.word) };
		if (isAccented(wanted.word)) {
			result.plainSearch = { ...(await ask({ search: plain.word })), asked: plain };
		}
	}
	const [common, another] = valuesOf(products, 'status');
	// If all products have one status, another one finds nothing, and that tells as much.
	const status = another ?? (common === 4 ? 2 : 4);
	result.status = { ...(await ask({ status: String(status) })), asked: status };
	const categories = valuesOf(products, 'id_category');
	if (categories.length > 1) {
		const some = categories.slice(0, Math.min(2, categories.length - 1));
		result.categories = { ...(await ask({ categories: some.join(',') })), asked: some };
	}
	return result;
}

/** As many as the package asks for. */
export const LARGE_PAGE = 250;

/** Reads a transaction, and the same hash in the other case. */
export async function readBothCases(service: Service, hash: string): Promise<KnownTransaction> {
	const known = await read(service, hash);
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
		asked: hash,
		answer,
		transaction: isSuccess(answer) ? readTransaction(answer.json) : undefined,
	};
}

function listed(answer: Answer): Listed {
	return { answer, page: isSuccess(answer) ? readProductPage(answer.json) : undefined };
}

/** Ends the command if the very first answer shows that there is nothing to ask. */
function refuseUnusable({ status, isPage, fault, headers }: Answer): void {
	const how = isPage ? `${status}, a web page` : String(status);
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
	if (status === 401 || status === 403) {
		throw new Refusal(
			EXIT.token,
			`The service does not accept DIGITAL_SALES_TOKEN (${status}). Copy it again from the service.`,
		);
	}
	if (status >= 500)
		throw new Refusal(EXIT.down, `The service failed to answer (${how}). Try again later.`);
	if (isPage || (status >= 300 && status < 400) || status === 404 || status === 405) {
		throw new Refusal(
			EXIT.path,
			`There is no API under this address (${how}). Check the path in DIGITAL_SALES_BASE_URL.`,
		);
	}
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
