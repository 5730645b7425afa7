import compact from 'lodash/compact';
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { catalogPages } from '../../api/catalog';
import { offerTries } from '../../api/offers';
import { markPricesSeen, seenPrices } from '../../api/seenPrices';
import { formatReais } from '../../domain/money';
import { quoted } from '../../domain/text';
import { withCustomFields } from '../../form/fields';
import { displayPath, mistake, readForm } from '../../form/readForm';
import { createOnce } from '../../idempotency/createOnce';
import { isKnown } from '../../idempotency/earlier';
import { offerFingerprint } from '../../idempotency/keys';
import type { NotSentError } from '../../output/errors';
import { offerOutput } from '../../output/product';
import { hundredfold } from '../hundredfold';
import type { Operation } from '../operation';
import type { Run } from '../run';
import { offerBodySchema, type OfferForm, offerForm } from './create.form';

interface ReadyOffer extends OfferBody {
	productHash: string;
	options: { repeatCode?: string; allowPriceMismatch?: boolean };
	about: string;
	/** What is wrong with an offer that may exist already: then it is returned all the same. */
	problem?: NotSentError;
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
		const { productHash, options } = form;
		const offer = bodyOf(context, itemIndex, form);
		return { productHash, ...offer, options, about: inWords(productHash, offer.body) };
	},
	check(run, itemIndex, ready) {
		const problem = priceMismatch(run, ready);
		// What exists is returned whatever other offers cost now.
		if (problem && !isKnown(identifiable(run, itemIndex, ready))) throw problem;
		return { ...ready, problem };
	},
	about: ({ about }) => about,
	async send(run, itemIndex, ready) {
		const { account } = run;
		const { productHash, body, options, about, problem } = ready;
		const client = run.client();
		const { made: json, isExisting } = await createOnce<IDataObject>({
			...run.creating(itemIndex),
			...identifiable(run, itemIndex, ready),
			kind: 'offer',
			about,
			repeatCode: options.repeatCode,
			problem,
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
		markPricesSeen(account, productHash, [json]);
		return [{ json: offerOutput(json) }];
	},
};

/** The offer as it will be sent. */
interface OfferBody {
	/** Of POST /products/{hash}/offers; amounts in cents. */
	body: IDataObject;
	price: Parameters<typeof hundredfold>[0];
}

/**
 * @throws NodeOperationError if Custom Fields hold what cannot be checked, or fields contradict each other
 */
function bodyOf(context: IExecuteFunctions, itemIndex: number, form: OfferForm): OfferBody {
	const { customFields = {} } = form.additionalFields;
	const body = withCustomFields(offerForm.body(form), customFields);
	const labelOf = (field: string, own: string[], ...path: Array<string | number>): string =>
		displayPath(
			offerForm.properties,
			field in customFields ? ['additionalFields', 'customFields', field, ...path] : own,
		);
	const read = offerBodySchema.safeParse(body);
	if (!read.success) {
		const [{ path: [field = '', ...path] = [], message = '' } = {}] = read.error.issues;
		const label = labelOf(String(field), [String(field)], ...path);
		const advice = 'Amounts in Custom Fields are in cents. To send none, leave the field out.';
		throw mistake(context, itemIndex, `${label} ${message}`, advice);
	}
	const {
		price: cents,
		payment_methods: methods,
		method_default: preset,
		payment_method_discounts: discounts = [],
	} = read.data;
	if (preset != null && methods && methods.length > 0 && !methods.includes(preset)) {
		const label = labelOf('method_default', ['additionalFields', 'methodDefault']);
		const problem = `${label} is not among the Payment Methods`;
		throw mistake(context, itemIndex, problem, 'Add it there, or choose another one.');
	}
	const names = compact(discounts.map(({ payment_method: name }) => name?.trim().toLowerCase()));
	const second = names.findIndex((name, nth) => names.indexOf(name) < nth);
	if (second >= 0) {
		const own = ['additionalFields', 'paymentMethodDiscounts'];
		const label = labelOf('payment_method_discounts', own);
		const problem = `${label} has two discounts for ${quoted(names[second] ?? '')}`;
		throw mistake(context, itemIndex, problem, 'Keep one of them.');
	}
	const price = { label: labelOf('price', ['price']), cents, isCustom: 'price' in customFields };
	return { body, price };
}

/** A price that fits one offer of the product is right, whatever the others cost. */
function priceMismatch(
	{ account }: Run,
	{ productHash, price, options }: ReadyOffer,
): NotSentError | undefined {
	const seen = seenPrices(account, productHash);
	if (options.allowPriceMismatch === true || seen.some((cents) => cents === price.cents)) return;
	return seen
		.map((other) => hundredfold(price, 'another offer of this product costs', other))
		.find(Boolean);
}

function identifiable(run: Run, itemIndex: number, { productHash, body }: ReadyOffer) {
	const { context, account, memory } = run;
	return { context, account, memory, itemIndex, fingerprint: offerFingerprint(productHash, body) };
}

function inWords(productHash: string, { title, price }: IDataObject): string {
	return [
		`an offer for the product ${quoted(productHash)}`,
		...(typeof title === 'string' ? [`titled "${quoted(title)}"`] : []),
		...(typeof price === 'number' ? [`at ${formatReais(price)}`] : []),
	].join(' ');
}
