import type { IDataObject } from 'n8n-workflow';
import { catalogPages, markPricesSeen, offerTries } from '../../api';
import { formatReais, normalizeUnicode, quoteText } from '../../domain';
import { addCustomFields } from '../../form';
import { createOnce, type Creation, makeKeys, refuseAhead } from '../../idempotency';
import { offerOutput } from '../../output';
import { digest } from '../../shared';
import type { Operation } from '../operation';
import type { Run } from '../run';
import { type OfferForm, offerForm } from './create.form';

interface ReadyOffer {
	form: OfferForm;
	/** Amounts are in cents. */
	body: IDataObject;
	about: string;
}

interface CheckedOffer extends ReadyOffer {
	creation: Creation<IDataObject>;
}

/** Offer > Create: POST /products/{hash}/offers (API document, Endpoint 2). */
export const createOfferOperation: Operation<OfferForm, ReadyOffer, CheckedOffer> = {
	resource: 'offer',
	name: 'Create',
	value: 'create',
	action: 'Create an offer',
	description: 'Create an offer for a product, with its price and payment methods',
	form: offerForm,
	manyItemsHint:
		'Creates one offer for each input item. To create only one, turn on Execute Once in the Settings of this node.',
	kind: 'create',
	complete(_run, form) {
		const { customFields } = form.additionalFields;
		const body = addCustomFields(offerForm, offerForm.body(form), customFields);

		return { form, body, about: describeOffer(form.productHash, body) };
	},
	async check(run, itemIndex, ready) {
		const creation = buildCreation(run, itemIndex, ready);
		await refuseAhead(creation);
		return { ...ready, creation };
	},
	about: ({ about }) => about,
	async send(run, _itemIndex, { form: { productHash }, creation }) {
		const { made: json, isExisting } = await createOnce(creation);
		if (isExisting) run.addHint('The offer was already created.', `Offer ${String(json.hash)}`);
		catalogPages.clear();
		markPricesSeen(run.account, productHash, [json]);
		return [{ json: offerOutput(json) }];
	},
};

function fingerprintOffer(productHash: string, body: IDataObject): string {
	const parts = JSON.stringify([productHash, Object.entries(body).sort()]);

	return digest('offer', normalizeUnicode(parts));
}

function buildCreation(run: Run, itemIndex: number, ready: ReadyOffer): Creation<IDataObject> {
	const { form, body, about } = ready;
	const subject = {
		...run.creationContext(itemIndex),
		account: run.account,
		kind: 'offer',
		fingerprint: fingerprintOffer(form.productHash, body),
		name: '',
		about,
	} as const;

	return {
		...subject,
		...makeKeys(subject),
		tries: offerTries(run.newClient(), form.productHash, body),
		// The API cannot read an offer again, so the whole offer is stored.
		toStoredResult: (made) => made,
		readAgain: async (stored) => stored,
		isVoid: () => false,
	};
}

function describeOffer(productHash: string, { title, price }: IDataObject): string {
	return [
		`an offer for the product ${quoteText(productHash)}`,
		...(typeof title === 'string' ? [`titled "${quoteText(title)}"`] : []),
		...(typeof price === 'number' ? [`at ${formatReais(price)}`] : []),
	].join(' ');
}
