import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod';
import type { Account } from '../../api/account';
import { forgetCatalog } from '../../api/catalog';
import type { CatalogProduct } from '../../api/catalogPage';
import { createOffer } from '../../api/offers';
import { OFFER_INTERVALS } from '../../api/schemas/offer';
import { withoutBlanks } from '../../domain/blanks';
import { formatReais, type AmountUnit } from '../../domain/money';
import { isSamePage } from '../../domain/pageAddress';
import { amountUnitField } from '../../form/amountUnit';
import { withCustomFields } from '../../form/customFields';
import {
	jsonObjectField,
	moneyField,
	optional,
	percentField,
	textField,
	wholeNumberField,
	yesNoField,
} from '../../form/fields';
import { locatorField } from '../../form/locators';
import { readForm } from '../../form/readForm';
import { clientOptions, requestOptionsShape } from '../../form/requestOptions';
import { typedCodes } from '../../once/code';
import { createOnce, type Creation } from '../../once/createOnce';
import { identify, offerFingerprint } from '../../once/identity';
import type { ItemRun, Operation, PreparedItem } from '../operation';
import { offerProperties } from './createForm';

const methodCode = wholeNumberField(1, 3);

const discountSchema = z
	.object({
		paymentMethod: textField,
		paymentMethodName: optional(textField),
		discountPercentage: percentField,
	})
	.transform(({ paymentMethod, paymentMethodName, discountPercentage }, context) => {
		const method = paymentMethod === 'other' ? paymentMethodName : paymentMethod;
		if (method === undefined) {
			context.addIssue({
				code: 'custom',
				path: ['paymentMethodName'],
				message: 'is empty; fill it in',
			});
			return z.NEVER;
		}
		return { payment_method: method, discount_percentage: discountPercentage };
	});

function formSchema(unit: AmountUnit) {
	return z.object({
		productHash: locatorField,
		title: optional(textField),
		price: optional(moneyField(unit)),
		paymentMethods: optional(z.array(methodCode, { message: 'must be a list of 1, 2 and 3' })),
		additionalFields: z.object({
			methodDefault: optional(methodCode),
			interval: optional(
				textField.pipe(
					z.enum(OFFER_INTERVALS, {
						message: `must be one of ${OFFER_INTERVALS.join(', ')}`,
					}),
				),
			),
			affiliatesVisible: optional(yesNoField),
			paymentMethodDiscounts: z.object({ items: z.array(discountSchema).optional() }).optional(),
			customFields: optional(jsonObjectField),
		}),
		options: z.object({
			...requestOptionsShape,
			amountUnit: amountUnitField,
			repeatCode: optional(textField),
		}),
	});
}

/** Offer > Create: POST /products/{hash}/offers (API document, Endpoint 2). */
export const createOfferOperation: Operation = {
	name: 'Create',
	value: 'create',
	action: 'Create an offer',
	description: 'Create an offer for a product, with its price and payment methods',
	properties: offerProperties,
	serviceFields: {
		title: 'title',
		price: 'price',
		payment_methods: 'paymentMethods',
		'payment_methods.*': 'paymentMethods',
		method_default: 'additionalFields.methodDefault',
		interval: 'additionalFields.interval',
		affiliates_visible: 'additionalFields.affiliatesVisible',
		payment_method_discounts: 'additionalFields.paymentMethodDiscounts',
		'payment_method_discounts.*.payment_method':
			'additionalFields.paymentMethodDiscounts.items.*.paymentMethod',
		'payment_method_discounts.*.discount_percentage':
			'additionalFields.paymentMethodDiscounts.items.*.discountPercentage',
	},
	manyItemsHint:
		'Creates one offer for each input item. To create only one, turn on Execute Once in the Settings of this node.',
	creates: true,
	prepare(context, itemIndex, account) {
		const unit = context.getNodeParameter('options.amountUnit', itemIndex, 'cents');
		const form = readForm(
			context,
			itemIndex,
			offerProperties,
			formSchema(unit === 'reais' ? 'reais' : 'cents'),
		);
		const { productHash, title, price, paymentMethods, additionalFields: more, options } = form;
		const body: IDataObject = withCustomFields(
			withoutBlanks({
				title,
				price,
				payment_methods: paymentMethods,
				method_default: more.methodDefault,
				interval: more.interval,
				affiliates_visible: more.affiliatesVisible,
				payment_method_discounts: more.paymentMethodDiscounts?.items,
			}),
			more.customFields,
		);
		const offer = { context, itemIndex, account, body, options };
		const prepared = preparedOffer(productHash.hash, offer);
		const { address } = productHash;
		if (address === undefined) return prepared;
		return {
			...prepared,
			async complete(catalog) {
				const { found } = await catalog.product((product) =>
					sells(product, productHash.hash, address),
				);
				return found?.hash == null ? prepared : preparedOffer(found.hash, offer);
			},
		};
	},
};

interface Offer {
	context: IExecuteFunctions;
	itemIndex: number;
	account: Account;
	body: IDataObject;
	options: z.output<ReturnType<typeof formSchema>>['options'];
}

function preparedOffer(productHash: string, offer: Offer): PreparedItem {
	const { body, options } = offer;
	const { title, price } = body;
	const about = [
		`an offer for the product ${productHash}`,
		typeof title === 'string' ? `titled "${title}"` : undefined,
		typeof price === 'number' ? `at ${formatReais(price)}` : undefined,
	]
		.filter((part) => part !== undefined)
		.join(' ');
	return {
		clientOptions: clientOptions(options),
		about,
		async send(run) {
			const { made: json, isExisting } = await createOnce(
				creationOf(productHash, offer, about, run),
			);
			if (isExisting)
				run.hint(`The offer was already created. Returning offer ${String(json.hash)}.`);
			forgetCatalog(offer.account);
			return [{ json }];
		},
	};
}

function creationOf(
	productHash: string,
	{ context, itemIndex, account, body, options }: Offer,
	about: string,
	{ client, memory }: ItemRun,
): Creation<IDataObject> {
	const fingerprint = offerFingerprint(productHash, body);
	return {
		context,
		itemIndex,
		kind: 'offer',
		about,
		account: account.key,
		identity: identify(context, account, memory, { fingerprint, itemIndex }),
		memory,
		codes: typedCodes(options.repeatCode),
		create: async () => await createOffer(client, productHash, body),
		// No operation reads an offer, so all of it is kept.
		keep: (made) => made,
		again: async (kept) => kept,
		isVoid: () => false,
	};
}

/** Whether an address is the sale page of a product, or the checkout of one of its offers. */
function sells(product: CatalogProduct, hash: string, address: string): boolean {
	const pages = [product.sale_page, ...product.offers.map(({ url }) => url)];
	return product.hash === hash || pages.some((page) => page != null && isSamePage(page, address));
}
