import type { IDataObject } from 'n8n-workflow';
import { catalogPages } from '../../api/catalog';
import { markPricesSeen, offerTries } from '../../api/products';
import { formatReais } from '../../domain/money';
import { quoted } from '../../domain/text';
import { withCustomFields } from '../../form/fields';
import { readForm } from '../../form/readForm';
import { createOnce } from '../../once/createOnce';
import { offerFingerprint } from '../../once/identity';
import { offerOutput } from '../../output/product';
import type { Operation } from '../operation';
import { offerForm } from './create.form';

interface ReadyOffer {
	productHash: string;
	/** Of POST /products/{hash}/offers; amounts in cents. */
	body: IDataObject;
	repeatCode?: string;
	about: string;
}

/** Offer > Create: POST /products/{hash}/offers (API document, Endpoint 2). */
export const createOfferOperation: Operation<ReadyOffer> = {
	name: 'Create',
	value: 'create',
	action: 'Create an offer',
	description: 'Create an offer for a product, with its price and payment methods',
	form: offerForm,
	manyItemsHint:
		'Creates one offer for each input item. To create only one, turn on Execute Once in the Settings of this node.',
	creates: true,
	read({ context }, itemIndex) {
		const form = readForm(context, itemIndex, offerForm);
		const { productHash, additionalFields, options } = form;
		const body = withCustomFields(offerForm.body(form), additionalFields.customFields);
		const { repeatCode } = options;
		return { productHash, body, repeatCode, about: inWords(productHash, body) };
	},
	about: ({ about }) => about,
	async send(run, itemIndex, { productHash, body, repeatCode, about }) {
		const { account } = run;
		const client = run.client();
		const { made: json, isExisting } = await createOnce<IDataObject>({
			...run.creating(itemIndex),
			account,
			kind: 'offer',
			about,
			fingerprint: offerFingerprint(productHash, body),
			repeatCode,
			tries: offerTries(client, productHash, body),
			// No operation reads an offer, so all of it is kept.
			keep: (made) => made,
			again: async (kept) => kept,
			isVoid: () => false,
		});
		if (isExisting) {
			const name = `offer ${String(json.hash)}`;
			run.hint(`The offer was already created. Returning ${name}.`, 'existing', name);
		}
		catalogPages.clear();
		// Also of an existing one: its raw price may go straight into the next form.
		markPricesSeen(account, [json]);
		return [{ json: offerOutput(json) }];
	},
};

function inWords(productHash: string, { title, price }: IDataObject): string {
	return [
		`an offer for the product ${quoted(productHash)}`,
		...(typeof title === 'string' ? [`titled "${quoted(title)}"`] : []),
		...(typeof price === 'number' ? [`at ${formatReais(price)}`] : []),
	].join(' ');
}
