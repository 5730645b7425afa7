import { CHECKOUT_HOST, isSubscription } from '../catalog';
import { timestamp } from '../clock';
import { type Answer, failureAnswer, isRecord, jsonAnswer } from '../http';
import { BASE_PATH } from '../options';
import type { ApiRequest, SandboxParts } from '../parts';
import type { Offer, Product } from '../types';
import { offerSchema, refusalAnswer } from './checks';

/** Letters without case and accents: the collation such platforms run on compares that way. */
function fold(text: string): string {
	return text
		.normalize('NFD')
		.replace(/\p{Diacritic}/gu, '')
		.toLowerCase();
}

function filterOf({ search = '', categories, status }: Record<string, string>) {
	const wanted = categories?.split(',').map((id) => id.trim());
	const needle = fold(search);
	return (product: Product): boolean =>
		(!status || String(product.status) === status) &&
		(!categories || (wanted ?? []).includes(String(product.id_category))) &&
		(!needle || fold(product.title).includes(needle) || product.hash.includes(needle));
}

const DEFAULT_PAGE_SIZE = 30;

/** Section "GET /products": the list with its filters; unknown query names change nothing. */
export function listProducts(parts: SandboxParts) {
	const { settings, state } = parts;
	return ({ query }: ApiRequest): Answer => {
		const found = state.products.filter(filterOf(query));
		const page = positive(query.page, 1);
		const size = Math.min(positive(query.per_page, DEFAULT_PAGE_SIZE), settings.maxPageSize);
		return jsonAnswer(200, pageOf(found, page, size, `${parts.origin}${BASE_PATH}/products`));
	};
}

/** Anything but a positive integer counts as absent, as in Laravel's paginator. */
function positive(text: string | undefined, fallback: number): number {
	const value = text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : 0;
	return value >= 1 ? value : fallback;
}

/** How far from the first, the last and the present page there is a link to each. */
const LINKED = 4;

/**
 * One page of the list. The links carry the page number alone, as the document shows them: filters and
 * page size are dropped.
 */
function pageOf(products: readonly Product[], page: number, perPage: number, path: string): object {
	const from = (page - 1) * perPage;
	const data = products.slice(from, from + perPage);
	const last = Math.max(1, Math.ceil(products.length / perPage));
	const url = (number: number): string => `${path}?page=${number}`;
	const prev = page > 1 ? url(page - 1) : null;
	const next = page < last ? url(page + 1) : null;
	const numbers = Array.from({ length: last }, (_, index) => index + 1).filter((number) =>
		[1, page, last].some((near) => Math.abs(number - near) <= LINKED),
	);
	return {
		data,
		links: { first: url(1), last: url(last), prev, next },
		meta: {
			current_page: page,
			from: data.length > 0 ? from + 1 : null,
			last_page: last,
			links: [
				{ url: prev, label: 'pagination.previous', active: false },
				...numbers.map((number) => ({
					url: url(number),
					label: String(number),
					active: number === page,
				})),
				{ url: next, label: 'pagination.next', active: false },
			],
			path,
			per_page: perPage,
			to: data.length > 0 ? from + data.length : null,
			total: products.length,
		},
	};
}

/** Section "POST /products/{hash}/offers". */
export function createOffer({ state }: SandboxParts) {
	return ({ params, body }: ApiRequest): Answer => {
		const product = state.product(params.hash ?? '');
		if (!product) return failureAnswer(404, 'Product not found.');
		const request = isRecord(body) ? body : {};
		const { data, error } = offerSchema(isSubscription(product)).safeParse(request);
		if (error) return refusalAnswer(error);
		const now = timestamp(Date.now());
		const hash = state.newHash();
		const offer: Offer = {
			hash,
			title: data.title ?? null,
			price: data.price,
			url: `${CHECKOUT_HOST}/${hash}`,
			status: 1,
			interval: data.interval ?? null,
			created_at: now,
			updated_at: now,
		};
		state.addOffer(product, offer, request);
		const { interval, ...rest } = offer;
		return jsonAnswer(201, interval === null ? rest : offer);
	};
}
