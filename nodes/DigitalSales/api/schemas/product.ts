import { camelCase, find } from 'lodash';
import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';
import { jsonObjects, lenientInteger, lenientText, tolerated } from '../../shared';

/** API document, Offer. `price` is in cents. */
export const offerSchema = z.object({
	hash: lenientText,
	title: lenientText,
	price: lenientInteger,
	url: lenientText,
	interval: lenientText,
});

export type Offer = z.output<typeof offerSchema>;

/** API document, Product. */
export const PRODUCT_STATUSES = { active: 1, inactive: 2, inReview: 3, blocked: 4 } as const;

/** Some platforms send the name of a status. */
const statusCode = z.preprocess((status) => {
	if (typeof status !== 'string') return status;
	return find(PRODUCT_STATUSES, (_code, name) => name === camelCase(status)) ?? status;
}, lenientInteger);

export const productSchema = z.object({
	hash: lenientText,
	title: lenientText,
	cover: lenientText,
	id_category: lenientInteger,
	sale_page: lenientText,
	// A malformed offer must not hide the others.
	offers: z
		.array(offerSchema.nullable().catch(null))
		.catch([])
		.transform((offers) => offers.filter((offer) => offer !== null)),
	status: statusCode,
});

export type Product = z.output<typeof productSchema>;

export function isOnSale({ status }: { status?: unknown }): boolean {
	const code = productSchema.shape.status.parse(status) ?? PRODUCT_STATUSES.active;
	return code === PRODUCT_STATUSES.active;
}

export interface ProductPage<T = IDataObject> {
	data: T[];
	lastPage?: number;
	total?: number;
	hasNext?: boolean;
}

const count = tolerated(lenientInteger.pipe(z.number().nonnegative()));

const pageSchema = z
	.object({
		data: jsonObjects,
		meta: tolerated(z.object({ last_page: count, total: count })),
		links: tolerated(z.object({ next: z.string().nullable() })),
	})
	.transform(({ data, meta, links }) => ({
		data,
		lastPage: meta?.last_page ?? undefined,
		total: meta?.total ?? undefined,
		hasNext: links ? Boolean(links.next) : undefined,
	}));

const anyPage = z.union([
	pageSchema,
	z.object({ data: pageSchema }).transform(({ data }) => data),
	jsonObjects.transform((data) => ({ data })),
]);

/** API document, Endpoint 4: GET /products. */
export function parseProductPage(body: unknown): ProductPage | undefined {
	return anyPage.safeParse(body).data;
}
