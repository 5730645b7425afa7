import { timestamp } from './clock';
import { INTERVALS, type Offer, type Product, type ProductStatus } from './types';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** A repeatable source of numbers in [0, 1) (mulberry32). */
export function seededRandom(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
	};
}

function pickFrom<T>(random: () => number, list: readonly T[]): T {
	const entry = list[Math.floor(random() * list.length)];
	if (entry === undefined) throw new Error('pickFrom got an empty list');
	return entry;
}

/**
 * A hash of a-z0-9 that is not in `taken`. It starts with a letter, because code that reads notifications takes
 * digits alone for a numeric id.
 */
export function freshHash(random: () => number, length: number, taken: Set<string>): string {
	for (;;) {
		let hash = ALPHABET.charAt(Math.floor(random() * 26));
		while (hash.length < length) hash += ALPHABET.charAt(Math.floor(random() * 36));
		if (!taken.has(hash)) {
			taken.add(hash);
			return hash;
		}
	}
}

const FORMATS = splitList(`
	Curso de | Mentoria em | E-book: | Guia Prático de | Formação Completa em | Imersão | Clube de |
	Planilhas de | Oficina de`);

const TOPICS = splitList(`
	Confeitaria Artesanal | Violão para Iniciantes | Programação Web | Meditação e Respiração |
	Finanças Pessoais | Inglês para Viagens | Fotografia de Família | Jardinagem Orgânica |
	Pães de Fermentação Natural | Ilustração Digital | Gestão de Tráfego | Crochê & Tricô |
	Redação para o ENEM | Ioga em Casa | Marcenaria Básica | Edição de Vídeo | Oratória sem Medo |
	Alimentação Saudável | Maquiagem Profissional | Excel "do Zero ao Avançado" |
	Adestramento de Cães | Música Gospel no Teclado | Organização da Casa |
	Cerâmica e Modelagem à Mão`);

function splitList(text: string): string[] {
	return text.split('|').map((entry) => entry.trim());
}

/** Combines formats and topics. A class number keeps further titles apart. */
function titleOf(index: number): string {
	const turn = Math.floor(index / TOPICS.length);
	const title = `${FORMATS[(turn + index) % FORMATS.length]} ${TOPICS[index % TOPICS.length]}`;
	const round = Math.floor(turn / FORMATS.length);
	return round > 0 ? `${title} — Turma ${round + 1}` : title;
}

const OFFER_TITLES = ['À vista', 'Black Friday', 'Lançamento', 'Promoção de Verão', 'Padrão'];

/** Cents. Binary fractions get 115 and 1990 wrong, among others. */
const PRICES = [115, 990, 1990, 2999, 4700, 6790, 9700, 14990, 19700, 29700, 49700, 99700];

const GUARANTEES = ['7', '7', '14', '15', '30'] as const;

const SUPPORT_NAMES = ['Ana Conceição', 'João Araújo', 'Equipe São Luís', 'Lúcia Brandão'];

const SEED = 20240131;
const FIRST_DAY = Date.UTC(2024, 0, 8, 12, 0, 0);
const HOUR = 3_600_000;
const STATUSES: readonly ProductStatus[] = [1, 1, 1, 1, 1, 1, 1, 2, 3, 4];

export const CHECKOUT_HOST = 'https://pay.sandbox.test';
const CATEGORIES = 12;

/**
 * Makes the catalog of the account. The same count gives the same products, and a larger catalog begins with
 * the same products. Adds their hashes to `taken`.
 */
export function seedCatalog(count: number, taken: Set<string>): Product[] {
	const random = seededRandom(SEED);
	return Array.from({ length: count }, (_, index) => seedProduct(random, taken, index));
}

/**
 * Whether a product is a subscription: it has an offer that recurs. The document requires an interval for offers of
 * "subscription products", but does not define them.
 */
export function isSubscription(product: Product): boolean {
	return product.offers.some((offer) => offer.interval !== null);
}

function seedProduct(random: () => number, taken: Set<string>, index: number): Product {
	const newHash = (): string => freshHash(random, 5 + Math.floor(random() * 6), taken);
	const hash = newHash();
	const title = titleOf(index);
	const isRecurring = index % 6 === 5;
	const created = FIRST_DAY + index * 7 * HOUR;
	const seedOffer = (): Offer => {
		const offerHash = newHash();
		return {
			hash: offerHash,
			title: random() < 0.3 ? null : pickFrom(random, OFFER_TITLES),
			price: pickFrom(random, PRICES),
			url: `${CHECKOUT_HOST}/${offerHash}`,
			status: 1,
			interval: isRecurring ? pickFrom(random, INTERVALS) : null,
			created_at: timestamp(created),
			updated_at: timestamp(created + Math.floor(random() * 400) * HOUR),
		};
	};
	const offers = Array.from({ length: 1 + Math.floor(random() * 3) }, seedOffer);
	return {
		hash,
		title,
		description: `${title}. Acesso imediato, suporte por e-mail e certificado de conclusão.`,
		cover: `https://cdn.sandbox.test/covers/${hash}.jpg`,
		id_category: 1 + Math.floor(random() * CATEGORIES),
		product_type: 'digital',
		guaranted_days: pickFrom(random, GUARANTEES),
		sale_page: `https://www.sandbox.test/p/${hash}`,
		offers,
		// The first products are active, so that a trial with the first product works.
		status: index < 3 ? 1 : pickFrom(random, STATUSES),
		support_name: pickFrom(random, SUPPORT_NAMES),
		support_email: 'suporte@sandbox.test',
		support_whatsapp: random() < 0.4 ? null : '5511900000000',
	};
}
