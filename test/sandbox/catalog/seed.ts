import { timestamp } from '../clock';
import { INTERVALS, type Offer, type Product, type ProductStatus } from '../types';
import { freshHash, pick, seededRandom } from './random';
import * as words from './words';

const SEED = 20240131;
const FIRST_DAY = Date.UTC(2024, 0, 8, 12, 0, 0);
const HOUR = 3_600_000;
const STATUSES: readonly ProductStatus[] = [1, 1, 1, 1, 1, 1, 1, 2, 3, 4];

export const CHECKOUT_HOST = 'https://pay.sandbox.test';
const CATEGORIES = 12;

/**
 * The catalog of the account: the same products for the same count, and the first n of a larger
 * catalog are the catalog of n.
 */
export function seedCatalog(count: number): Product[] {
	const random = seededRandom(SEED);
	const taken = new Set<string>();
	return Array.from({ length: count }, (_, index) => seedProduct(random, taken, index));
}

/**
 * A subscription product is one with offers that recur: the document demands an interval of new
 * offers of "subscription products" without showing how to tell one.
 */
export function isSubscription(product: Product): boolean {
	return product.offers.some((offer) => offer.interval !== null);
}

function seedProduct(random: () => number, taken: Set<string>, index: number): Product {
	const hash = freshHash(random, 5 + Math.floor(random() * 6), taken);
	const title = titleOf(index);
	const recurring = index % 6 === 5;
	const created = FIRST_DAY + index * 7 * HOUR;
	const offers = Array.from({ length: 1 + Math.floor(random() * 3) }, () =>
		seedOffer(random, taken, recurring, created),
	);
	return {
		hash,
		title,
		description: `${title}. Acesso imediato, suporte por e-mail e certificado de conclusão.`,
		cover: `https://cdn.sandbox.test/covers/${hash}.jpg`,
		id_category: 1 + Math.floor(random() * CATEGORIES),
		product_type: 'digital',
		guaranted_days: pick(random, words.GUARANTEES),
		sale_page: `https://www.sandbox.test/p/${hash}`,
		offers,
		// The first products are sellable, so that a trial with "the first one" works.
		status: index < 3 ? 1 : pick(random, STATUSES),
		support_name: pick(random, words.SUPPORT_NAMES),
		support_email: 'suporte@sandbox.test',
		support_whatsapp: random() < 0.4 ? null : '5511900000000',
	};
}

function seedOffer(
	random: () => number,
	taken: Set<string>,
	recurring: boolean,
	created: number,
): Offer {
	const hash = freshHash(random, 5 + Math.floor(random() * 6), taken);
	return {
		hash,
		title: random() < 0.3 ? null : pick(random, words.OFFER_TITLES),
		price: pick(random, words.PRICES),
		url: `${CHECKOUT_HOST}/${hash}`,
		status: 1,
		interval: recurring ? pick(random, INTERVALS) : null,
		created_at: timestamp(created),
		updated_at: timestamp(created + Math.floor(random() * 400) * HOUR),
	};
}

function titleOf(index: number): string {
	const { FORMATS, TOPICS, EDITIONS } = words;
	const topic = TOPICS[index % TOPICS.length] ?? '';
	const format = FORMATS[Math.floor(index / TOPICS.length + index) % FORMATS.length] ?? '';
	const edition = EDITIONS[Math.floor(index / 3) % EDITIONS.length] ?? '';
	// The combinations repeat after this many: a class number keeps titles apart.
	const round = Math.floor(index / 504);
	return `${format} ${topic}${edition}${round > 0 ? ` — Turma ${round + 1}` : ''}`;
}
