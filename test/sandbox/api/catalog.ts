import { CHECKOUT_HOST, isSubscription } from '../catalog';
import { timestamp } from '../clock';
import {
	type Answer,
	failure,
	failureByField,
	failureList,
	isRecord,
	json,
	type JsonObject,
} from '../http';
import { BASE_PATH } from '../options';
import type { ApiRequest, SandboxParts } from '../parts';
import type { SandboxState } from '../state';
import { INTERVALS, type Offer, type Product } from '../types';
import { FieldErrors, FieldReader } from './fields';
import { type PageRequest, paginate, type ProductPage } from './paginate';

export interface CatalogFilter {
	search?: string | undefined;
	categories?: string | undefined;
	status?: string | undefined;
}

/** Filters the catalog (section "GET /products") and remembers recent results for their pages. */
class CatalogSearch {
	private results = new Map<string, Product[]>();
	private folded: Array<{ hash: string; title: string }> | undefined;
	private version = -1;

	constructor(private readonly state: SandboxState) {}

	find(filter: CatalogFilter): Product[] {
		if (this.version !== this.state.catalogVersion) this.forget();
		const { search, categories, status } = filter;
		if (!search && !categories && !status) return this.state.products;
		const key = JSON.stringify([search, categories, status]);
		const known = this.results.get(key);
		if (known) return known;
		const found = this.filter(filter);
		if (this.results.size > 50) this.results.clear();
		this.results.set(key, found);
		return found;
	}

	private filter({ search, categories, status }: CatalogFilter): Product[] {
		const wanted = categories ? new Set(categories.split(',').map((id) => id.trim())) : undefined;
		const needle = search ? fold(search) : undefined;
		const folded = needle === undefined ? [] : this.foldedCatalog();
		return this.state.products.filter((product, index) => {
			if (status && String(product.status) !== status) return false;
			if (wanted && !wanted.has(String(product.id_category))) return false;
			if (needle === undefined) return true;
			const text = folded[index];
			return text !== undefined && (text.title.includes(needle) || text.hash.includes(needle));
		});
	}

	private foldedCatalog(): Array<{ hash: string; title: string }> {
		this.folded ??= this.state.products.map(({ hash, title }) => ({ hash, title: fold(title) }));
		return this.folded;
	}

	private forget(): void {
		this.results.clear();
		this.folded = undefined;
		this.version = this.state.catalogVersion;
	}
}

/** Letters without case and accents: the collation such services run on compares that way. */
function fold(text: string): string {
	return text
		.normalize('NFD')
		.replace(/\p{Diacritic}/gu, '')
		.toLowerCase();
}

const DEFAULT_PAGE_SIZE = 30;

/** Section "GET /products": the list with its filters; unknown query names change nothing. */
export function listProducts(parts: SandboxParts): (request: ApiRequest) => Answer {
	const { settings, state } = parts;
	const search = new CatalogSearch(state);
	const serialized = new SerializedProducts();

	return ({ query }) => {
		const { categories, status, page, per_page: size } = query;
		const words = settings.ignoresSearch ? undefined : query.search;
		const found = search.find({ search: words, categories, status });
		const request: PageRequest = {
			page: positive(page, 1),
			perPage: Math.min(positive(size, DEFAULT_PAGE_SIZE), settings.maxPageSize),
			path: `${parts.origin()}${BASE_PATH}/products`,
		};
		const list = paginate(found, request);
		return { ...json(200, list), text: () => serialized.page(list) };
	};
}

/** Anything but a positive integer counts as absent, as in Laravel's paginator. */
function positive(text: string | undefined, fallback: number): number {
	const value = text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : 0;
	return value >= 1 ? value : fallback;
}

/** Products as JSON text, made once: benchmarks read the catalog many times over. */
class SerializedProducts {
	private readonly texts = new WeakMap<Product, { offers: number; text: string }>();

	page({ data, links, meta }: ProductPage): string {
		const products = data.map((product) => this.product(product)).join(',');
		return `{"data":[${products}],"links":${JSON.stringify(links)},"meta":${JSON.stringify(meta)}}`;
	}

	private product(product: Product): string {
		const known = this.texts.get(product);
		// Offers are only ever added, so their number tells whether the text is still true.
		if (known && known.offers === product.offers.length) return known.text;
		const text = JSON.stringify(product);
		this.texts.set(product, { offers: product.offers.length, text });
		return text;
	}
}

const METHOD_CODES = [1, 2, 3];

/**
 * Section "POST /products/{hash}/offers". Only the price is demanded, and the interval for a
 * subscription product: the document does not say which further fields are required.
 */
export function createOffer(parts: SandboxParts): (request: ApiRequest) => Answer {
	const { settings, state } = parts;
	return ({ params, body, faults }) => {
		const product = state.product(params['hash'] ?? '');
		if (!product) return failure(404, 'Product not found.');
		const forced = faults.of('errorsByField');
		if (forced?.errors) return failureByField('The given data was invalid.', forced.errors);
		const input = isRecord(body) ? body : {};
		const errors = checkOffer(input, product);
		if (errors.any) {
			if (forced || settings.errorsByField) {
				return failureByField(errors.message(), errors.keyed());
			}
			return failureList(422, errors.message(), errors.list());
		}
		const offer = toOffer(input, state.newHash());
		state.addOffer(product, offer, input);
		const { interval, ...rest } = offer;
		return json(201, interval === null ? rest : { ...rest, interval });
	};
}

function checkOffer(input: JsonObject, product: Product): FieldErrors {
	const errors = new FieldErrors();
	const fields = new FieldReader(errors, input);
	fields.text('title');
	if (fields.required('price')) fields.integer('price', 1);
	fields.list('payment_methods').forEach((code, index) => {
		if (typeof code !== 'number' || !METHOD_CODES.includes(code)) {
			fields.refuse(`payment_methods.${index}`, 'is invalid.');
		}
	});
	fields.oneOf('method_default', METHOD_CODES);
	if (isSubscription(product)) fields.required('interval');
	fields.oneOf('interval', INTERVALS);
	fields.boolean('affiliates_visible');
	for (const discount of fields.objects('payment_method_discounts')) {
		if (discount.required('payment_method')) discount.text('payment_method');
		if (discount.required('discount_percentage')) discount.number('discount_percentage', 0, 100);
	}
	return errors;
}

function toOffer(input: JsonObject, hash: string): Offer {
	const now = timestamp(Date.now());
	return {
		hash,
		title: typeof input['title'] === 'string' ? input['title'] : null,
		price: typeof input['price'] === 'number' ? input['price'] : 0,
		url: `${CHECKOUT_HOST}/${hash}`,
		status: 1,
		interval: INTERVALS.find((interval) => interval === input['interval']) ?? null,
		created_at: now,
		updated_at: now,
	};
}
