import type { IDataObject } from 'n8n-workflow';
import { type CatalogProduct, forgetCatalog } from '../../api/catalog';
import { createOffer, markPricesSeen } from '../../api/products';
import { formatReais } from '../../domain/money';
import { withCustomFields } from '../../form/fields';
import type { FormValues } from '../../form/formOf';
import type { Located } from '../../form/locators';
import { mistake, readForm } from '../../form/readForm';
import { createOnce } from '../../once/createOnce';
import { offerFingerprint } from '../../once/identity';
import { offerOutput } from '../../output/product';
import { type Run, notLookedUp } from '../run';
import type { Operation } from '../operation';
import { offerForm } from './create.form';

type OfferForm = FormValues<typeof offerForm>;

interface ReadyOffer {
	productHash: string;
	/** Of POST /products/{hash}/offers; amounts in cents. */
	body: IDataObject;
	repeatCode?: string;
	about: string;
}

/** Offer > Create: POST /products/{hash}/offers (API document, Endpoint 2). */
export const createOfferOperation: Operation<OfferForm, ReadyOffer> = {
	name: 'Create',
	value: 'create',
	action: 'Create an offer',
	description: 'Create an offer for a product, with its price and payment methods',
	form: offerForm,
	manyItemsHint:
		'Creates one offer for each input item. To create only one, turn on Execute Once in the Settings of this node.',
	creates: true,
	read: ({ context }, itemIndex) => readForm(context, itemIndex, offerForm),
	async complete(run, itemIndex, form) {
		const body = withCustomFields(offerForm.body(form), form.additionalFields.customFields);
		const productHash = await productHashOf(run, itemIndex, form.productHash);
		const { repeatCode } = form.options;
		return { productHash, body, repeatCode, about: inWords(productHash, body) };
	},
	about: ({ about }) => about,
	async send(run, itemIndex, { productHash, body, repeatCode, about }) {
		const { account } = run;
		const client = run.client();
		const { made: json, isExisting } = await createOnce<IDataObject>({
			...run.deciding(itemIndex),
			account,
			kind: 'offer',
			about,
			fingerprint: offerFingerprint(productHash, body),
			repeatCode,
			create: async (record) => await run.creating(createOffer(client, productHash, body, record)),
			// No operation reads an offer, so all of it is kept.
			keep: (made) => made,
			again: async (kept) => kept,
			isVoid: () => false,
		});
		if (isExisting) {
			const name = `offer ${String(json.hash)}`;
			run.hint(`The offer was already created. Returning ${name}.`, 'existing', name);
		}
		forgetCatalog(account);
		// Also of an existing one: its raw price may go straight into the next form.
		markPricesSeen(account, [json]);
		return [{ json: offerOutput(json) }];
	},
};

/** The hash of a product, looked up by its address if that was given. */
async function productHashOf(run: Run, itemIndex: number, located: Located): Promise<string> {
	const { hash, address } = located;
	if (address === undefined) return hash;
	const { found, several, failed } = await run.catalog.product(located);
	if (failed) throw notLookedUp(run, `The product at ${address}`, failed);
	if (several) throw ambiguous(run, itemIndex, several);
	return found?.hash ?? hash;
}

function ambiguous({ context }: Run, itemIndex: number, several: CatalogProduct[]) {
	const names = several.map(({ hash, title }) => `${hash} (${title ?? 'no title'})`);
	return mistake(
		context,
		itemIndex,
		'Product fits several products of the catalog, or none of them exactly',
		`They are ${names.join(', ')}. Choose the product from the list or enter its hash.`,
	);
}

function inWords(productHash: string, { title, price }: IDataObject): string {
	return [
		`an offer for the product ${productHash}`,
		...(typeof title === 'string' ? [`titled "${title}"`] : []),
		...(typeof price === 'number' ? [`at ${formatReais(price)}`] : []),
	].join(' ');
}
