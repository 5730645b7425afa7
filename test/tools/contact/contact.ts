import { randomBytes } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';
import { parseNotification } from '../../../nodes/DigitalSales/api/schemas/notification';
import { readProductPage } from '../../../nodes/DigitalSales/api/schemas/product';
import { readTransaction } from '../../../nodes/DigitalSales/api/schemas/transaction';
import { isJsonObject } from '../../../nodes/DigitalSales/shared/json';
import { type Answer, ask, firstWebhook, type Settings } from './outside';
import { shapeOf } from './shape';

/** Names of query parameters that the document does not show. The first two products answer for themselves. */
const QUERIES = (word: string, category: unknown): Record<string, Record<string, string>> => ({
	'per_page=1': { per_page: '1' },
	'perPage=1': { perPage: '1' },
	'page=2': { page: '2' },
	'per_page=250': { per_page: '250' },
	'search by a word of a title': { search: word },
	'the same without accents': { search: word.normalize('NFD').replace(/\p{M}/gu, '') },
	'status=4': { status: '4' },
	'categories: that of the first product': { categories: String(category) },
});

/**
 * Asks a real service once each question of docs/unknowns.md, and says the answers: statuses, limits, and the names and
 * kinds in each body, never a value that may belong to a person.
 */
export async function contact(settings: Settings): Promise<void> {
	const { say, hashes, charge, offer, listenAt } = settings;
	const tell = (what: string, answer: Answer, more = ''): void =>
		say(`## ${what}\n${answer.status}${limitsIn(answer)}${more}\n${shapeOf(answer.json)}\n`);
	const read = async (what: string, path: string, withToken = true): Promise<void> => {
		const answer = await ask(settings, path, undefined, withToken);
		const isRead = readTransaction(answer.json) !== undefined;
		tell(what, answer, isRead ? '; the package reads it' : '; the package reads no transaction');
	};
	const create = async (path: string, body: object): Promise<Answer> => {
		// Said before it is sent, so that a person knows of the POST however the command ends.
		say(`Sending a POST to ${path.split('/').pop()} once.`);
		return await ask(settings, path, body);
	};

	const products = await readProducts(settings, tell);
	const known = new Set(hashes);
	const webhook = listenAt === undefined ? undefined : firstWebhook(listenAt);
	if (charge) {
		const answer = await create('/transactions', chargeOf(settings, products));
		tell('POST /transactions', answer);
		const made = readTransaction(answer.json)?.hash;
		if (made !== undefined) known.add(made);
	}
	if (offer !== undefined) {
		const path = `/products/${encodeURIComponent(offer)}/offers`;
		tell('POST /products/{hash}/offers', await create(path, offerOf(offer, products)));
	}
	if (webhook) {
		say(`Waiting for a webhook on port ${listenAt}.`);
		const body = await webhook;
		const isRead = parseNotification(body) !== undefined;
		say(`## The webhook\nthe package reads ${isRead ? 'its' : 'no'} hash\n${shapeOf(body)}\n`);
	}
	for (const hash of known) {
		const other = hash === hash.toUpperCase() ? hash.toLowerCase() : hash.toUpperCase();
		await read('GET /transactions/{hash}', pathOf(hash));
		await read('the same hash in the other case', pathOf(other));
	}
	await read('an unknown hash', pathOf(`nosuch${randomBytes(5).toString('hex')}`));
	await read('without a token', pathOf('nosuch'), false);
}

const pathOf = (hash: string): string => `/transactions/${encodeURIComponent(hash)}`;

/** The headers that state a limit. */
function limitsIn({ headers }: Answer): string {
	const stated = Object.entries(headers).filter(([name]) => /rate-?limit|retry-after/.test(name));
	return stated.map(([name, value]) => `; ${name}: ${value}`).join('');
}

/** Reads pages with each query parameter, and returns all products. */
async function readProducts(
	settings: Settings,
	tell: (what: string, answer: Answer, more?: string) => void,
): Promise<IDataObject[]> {
	const first = await ask(settings, '/products');
	tell('GET /products', first);
	const page = readProductPage(first.json)?.data;
	if (!page) throw new Error('The first answer is no list of products: check address and token.');
	const [one] = page;
	if (!one) return [];

	const products = [...page];
	const word = String(one.title).split(/\s/).at(-1) ?? '';
	for (const [what, query] of Object.entries(QUERIES(word, one.id_category))) {
		const answer = await ask(settings, `/products?${new URLSearchParams(query).toString()}`);
		const found = readProductPage(answer.json)?.data ?? [];
		const isSame = found[0]?.hash === one.hash;
		tell(
			what,
			{ ...answer, json: {} },
			`; ${found.length} products, ${isSame ? 'the same' : 'another'} first`,
		);
		products.push(...found);
	}
	return products;
}

/** A charge for the cheapest active offer, at its own price. */
function chargeOf({ token, secondToken, customer }: Settings, products: IDataObject[]): object {
	const [cheapest] = products
		.filter(({ status }) => status === 1)
		.flatMap(offersOf)
		.filter(({ price, interval }) => typeof price === 'number' && price > 0 && interval == null)
		.sort((one, other) => Number(one.price) - Number(other.price));
	if (!cheapest) throw new Error('No active product has an offer without an interval.');
	const { hash, price } = cheapest;
	return {
		api_token: secondToken || token,
		amount: price,
		payment_method: 'pix',
		cart: [{ offer_hash: hash, price, quantity: 1, operation_type: 1, title: 'First contact' }],
		installments: 1,
		customer,
	};
}

function offerOf(productHash: string, products: IDataObject[]): object {
	const product = products.find(({ hash }) => String(hash) === productHash);
	const recurring = product && offersOf(product).find(({ interval }) => interval != null);
	return {
		title: 'First contact',
		price: 1_000,
		payment_methods: [3],
		method_default: 3,
		affiliates_visible: false,
		...(recurring && { interval: recurring.interval }),
	};
}

const offersOf = ({ offers }: IDataObject): IDataObject[] =>
	Array.isArray(offers) ? offers.filter(isJsonObject) : [];
