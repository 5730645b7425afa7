import compact from 'lodash/compact';
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { catalogPages } from '../../api/catalog';
import { markPricesSeen, offerTries, seenPrices } from '../../api/offers';
import { formatReais } from '../../domain/money';
import { quoteText } from '../../domain/text';
import { withCustomFields } from '../../form/fields';
import { displayPath, parameterError, readForm } from '../../form/readForm';
import { createOnce } from '../../idempotency/createOnce';
import { hasEarlierAttempt } from '../../idempotency/earlier';
import { fingerprintOffer } from '../../idempotency/fingerprints';
import type { NotSentError } from '../../output/errors';
import { offerOutput } from '../../output/product';
import { hundredfoldMismatch, type SentPrice } from '../priceMismatch';
import type { Operation } from '../operation';
import type { Run } from '../run';
import { offerBodySchema, type OfferForm, offerForm } from './create.form';

interface ReadyOffer extends OfferBody {
	productHash: string;
	options: { repeatCode?: string; allowPriceMismatch?: boolean };
	about: string;
	/** Refuses a new offer. An existing offer is returned nevertheless. */
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
	kind: 'create',
	read({ context }, itemIndex) {
		const form = readForm(context, itemIndex, offerForm);
		const { productHash, options } = form;
		const offer = buildOffer(context, itemIndex, form);
		return { productHash, ...offer, options, about: describeOffer(productHash, offer.body) };
	},
	check(run, itemIndex, ready) {
		const problem = findPriceMismatch(run, ready);
		if (problem && !hasEarlierAttempt(offerRequest(run, itemIndex, ready))) throw problem;
		return { ...ready, problem };
	},
	about: ({ about }) => about,
	async send(run, itemIndex, ready) {
		const { productHash, body, options, about, problem } = ready;
		const { made: json, isExisting } = await createOnce<IDataObject>({
			...offerRequest(run, itemIndex, ready),
			kind: 'offer',
			about,
			enteredCodes: options.repeatCode,
			problem,
			tries: offerTries(run.newClient(), productHash, body),
			// The API cannot read an offer again, so the whole offer is stored.
			toStoredResult: (made) => made,
			readAgain: async (stored) => stored,
			isVoid: () => false,
		});
		if (isExisting) {
			const name = `offer ${String(json.hash)}`;
			run.addHint(`The offer was already created. Returning ${name}.`, 'existing', name);
		}
		catalogPages.clear();
		// For an existing offer, too: its price in cents may be mapped into the next form.
		markPricesSeen(run.account, productHash, [json]);
		return [{ json: offerOutput(json) }];
	},
};

interface OfferBody {
	/** Amounts are in cents. */
	body: IDataObject;
	price: SentPrice;
}

/** @throws NodeOperationError if a value in Custom Fields is invalid, or fields contradict each other */
function buildOffer(context: IExecuteFunctions, itemIndex: number, form: OfferForm): OfferBody {
	const { customFields = {} } = form.additionalFields;
	const body = withCustomFields(offerForm.body(form), customFields);
	const labelOf = (field: string, own: string[], ...path: Array<string | number>): string =>
		displayPath(
			offerForm.properties,
			field in customFields ? ['additionalFields', 'customFields', field, ...path] : own,
		);
	const itemError = (message: string, advice: string) =>
		parameterError(context, itemIndex, message, advice);
	const read = offerBodySchema.safeParse(body);
	if (!read.success) {
		const [{ path: [field = '', ...path] = [], message = '' } = {}] = read.error.issues;
		const label = labelOf(String(field), [String(field)], ...path);
		const advice = 'Amounts in Custom Fields are in cents. To send none, leave the field out.';
		throw itemError(`${label} ${message}`, advice);
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
		throw itemError(problem, 'Add it there, or choose another one.');
	}
	const names = compact(discounts.map(({ payment_method: name }) => name?.trim().toLowerCase()));
	const second = names.findIndex((name, nth) => names.indexOf(name) < nth);
	if (second >= 0) {
		const own = ['additionalFields', 'paymentMethodDiscounts'];
		const label = labelOf('payment_method_discounts', own);
		const problem = `${label} has two discounts for ${quoteText(names[second] ?? '')}`;
		throw itemError(problem, 'Keep one of them.');
	}
	const price = { label: labelOf('price', ['price']), cents, isCustom: 'price' in customFields };
	return { body, price };
}

/** A price that equals that of any offer of the product is right, whatever the other offers cost. */
function findPriceMismatch(
	{ account }: Run,
	{ productHash, price, options }: ReadyOffer,
): NotSentError | undefined {
	const seen = seenPrices(account, productHash);
	if (options.allowPriceMismatch === true || seen.some((cents) => cents === price.cents)) return;
	return seen
		.map((other) => hundredfoldMismatch(price, 'another offer of this product costs', other))
		.find(Boolean);
}

function offerRequest(run: Run, itemIndex: number, { productHash, body }: ReadyOffer) {
	const fingerprint = fingerprintOffer(productHash, body);
	return { ...run.creationContext(itemIndex), account: run.account, fingerprint };
}

function describeOffer(productHash: string, { title, price }: IDataObject): string {
	return [
		`an offer for the product ${quoteText(productHash)}`,
		...(typeof title === 'string' ? [`titled "${quoteText(title)}"`] : []),
		...(typeof price === 'number' ? [`at ${formatReais(price)}`] : []),
	].join(' ');
}
