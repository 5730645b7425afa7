import { compact, memoize } from 'lodash';
import type { IDataObject } from 'n8n-workflow';
import { catalogPages, markPricesSeen, offerSchema, offerTries } from '../../api';
import { formatReais, inReais, quoteText } from '../../domain';
import { addCustomFields } from '../../form';
import { createOnce, type Creation, makeKeys, refuseAhead } from '../../idempotency';
import { digest } from '../../shared';
import type { CreateOperation } from '../operation';
import type { Run } from '../run';
import { type OfferForm, offerForm } from './create.form';

/** Offer > Create: POST /products/{hash}/offers (API document, Endpoint 2). */
export const createOfferOperation: CreateOperation<OfferForm> = {
	resource: 'offer',
	name: 'Create',
	value: 'create',
	action: 'Create an offer',
	description: 'Create an offer for a product, with its price and payment methods',
	form: offerForm,
	manyItemsHint:
		'Creates one offer for each input item. To create only one, turn on Execute Once in the Settings of this node.',
	kind: 'create',
	prepare(run, itemIndex, form) {
		const { productHash, additionalFields } = form;
		const body = addCustomFields(offerForm, offerForm.body(form), additionalFields.customFields);
		// Built after all items are prepared: `makeKeys` records which item asked first for an offer, and Retries keep that.
		const creation = memoize(() => buildCreation(run, itemIndex, productHash, body));

		return {
			about: describeOffer(productHash, body),
			check: async () => await refuseAhead(creation()),
			async send() {
				const { made: json, isExisting } = await createOnce(creation());

				catalogPages.clear();
				markPricesSeen(run.account, [json]);
				if (isExisting) {
					run.addHint('The offer was already created.', `Offer ${String(json.hash)}`);
				}

				return [{ json: { ...json, price_reais: inReais(offerSchema.parse(json).price) } }];
			},
		};
	},
};

/** @param body amounts are in cents */
function buildCreation(
	run: Run,
	itemIndex: number,
	productHash: string,
	body: IDataObject,
): Creation<IDataObject> {
	const parts = JSON.stringify([productHash, Object.entries(body).sort()]);
	const subject = {
		...run.creationContext(itemIndex),
		kind: 'offer',
		fingerprint: digest('offer', parts.normalize()),
		name: '',
		about: describeOffer(productHash, body),
	} as const;

	return {
		...subject,
		...makeKeys(subject),
		tries: offerTries(run.newClient(), productHash, body),
		// The API cannot read an offer again, so the whole offer is stored.
		toStoredResult: (made) => made,
		readAgain: async (stored) => stored,
		isVoid: () => false,
	};
}

function describeOffer(productHash: string, { title, price }: IDataObject): string {
	return compact([
		`an offer for the product ${quoteText(productHash)}`,
		typeof title === 'string' && `titled "${quoteText(title)}"`,
		typeof price === 'number' && `at ${formatReais(price)}`,
	]).join(' ');
}
