import type { IDataObject } from 'n8n-workflow';
import { forgetCatalog, type CatalogProduct } from '../../api/catalog';
import { createOffer } from '../../api/offers';
import { markPricesSeen } from '../../api/seenPrices';
import { formatReais } from '../../domain/money';
import { isSamePage } from '../../domain/pageAddress';
import { withCustomFields } from '../../form/customFields';
import { readForm } from '../../form/readForm';
import { clientOptions, DEFAULT_AT_ONCE, RATE_LIMIT_ADVICE } from '../../form/requestOptions';
import { createOnce } from '../../once/createOnce';
import { offerFingerprint } from '../../once/identity';
import { simplifyOffer } from '../../output/offer';
import type { Operation, PreparedItem } from '../operation';
import { offerForm } from './create.form';

/** Offer > Create: POST /products/{hash}/offers (API document, Endpoint 2). */
export const createOfferOperation: Operation = {
	name: 'Create',
	value: 'create',
	action: 'Create an offer',
	description: 'Create an offer for a product, with its price and payment methods',
	form: offerForm,
	manyItemsHint:
		'Creates one offer for each input item. To create only one, turn on Execute Once in the Settings of this node.',
	advice: { rateLimited: RATE_LIMIT_ADVICE },
	creates: true,
	prepare(run, itemIndex) {
		const { context, account, memory, inTurn } = run;
		const form = readForm(context, itemIndex, offerForm);
		const { simplify, options } = form;
		const body = withCustomFields(offerForm.body(form), form.additionalFields.customFields);
		const prepared = (productHash: string): PreparedItem => {
			const about = inWords(productHash, body);
			return {
				about,
				atOnce: options.atOnce ?? DEFAULT_AT_ONCE,
				async send() {
					const client = run.client(clientOptions(options));
					const { made: json, isExisting } = await createOnce<IDataObject>({
						context,
						account,
						memory,
						signal: run.signal,
						inTurn,
						itemIndex,
						kind: 'offer',
						about,
						fingerprint: offerFingerprint(productHash, body),
						repeatCode: options.repeatCode,
						create: async () => await run.creating(createOffer(client, productHash, body)),
						// No operation reads an offer, so all of it is kept.
						keep: (made) => made,
						again: async (kept) => kept,
						isVoid: () => false,
					});
					if (isExisting)
						run.hint(`The offer was already created. Returning offer ${String(json.hash)}.`);
					forgetCatalog(account);
					// Also of an existing one: its raw price may go straight into the next form.
					markPricesSeen(account, [json]);
					return [{ json: simplify ? simplifyOffer(json, options.outputUnit) : json }];
				},
			};
		};
		const { hash, address } = form.productHash;
		if (address === undefined) return prepared(hash);
		return async () => {
			const { found } = await run.catalog.product((product) => sells(product, hash, address));
			return prepared(found?.hash ?? hash);
		};
	},
};

/** Whether an address is the sales page of a product, or the checkout of one of its offers. */
function sells(product: CatalogProduct, hash: string, address: string): boolean {
	const pages = [product.sale_page, ...product.offers.map(({ url }) => url)];
	return product.hash === hash || pages.some((page) => page != null && isSamePage(page, address));
}

function inWords(productHash: string, { title, price }: IDataObject): string {
	return [
		`an offer for the product ${productHash}`,
		...(typeof title === 'string' ? [`titled "${title}"`] : []),
		...(typeof price === 'number' ? [`at ${formatReais(price)}`] : []),
	].join(' ');
}
