import { z } from 'zod';
import { jsonObject } from '../../shared/json';
import type { AmountUnit } from '../../domain/money';
import { amountUnitField, outputUnitField } from '../../form/amountUnit';
import { customerFields } from '../../form/customerFields';
import {
	jsonObjectField,
	moneyField,
	optional,
	referenceField,
	textField,
	webAddressField,
	wholeNumberField,
	yesNoField,
} from '../../form/fields';
import { optionalLocatorField } from '../../form/locators';
import { qrCodeOptionsShape } from '../../form/qrCodeOptions';
import { requestOptionsShape } from '../../form/requestOptions';

/** What decides how the rest of the form is read. */
export interface CreateReading {
	unit: AmountUnit;
	checkCustomer: boolean;
}

/** A reference that was added to the form but has no value is there all the same: as null. */
const withAddedReference = jsonObject.transform((fields) =>
	'orderReference' in fields
		? { ...fields, orderReference: fields.orderReference ?? null }
		: fields,
);

/** The parameters of Transaction > Create PIX, in the shape of its form; amounts become cents. */
export function createSchema({ unit, checkCustomer }: CreateReading) {
	const customer = customerFields(checkCustomer);
	const cartItem = z.object({
		offerHash: optionalLocatorField,
		price: optional(moneyField(unit)),
		quantity: optional(wholeNumberField(1)).transform((quantity = 1) => quantity),
		operationType: optional(wholeNumberField(0)).transform((type = 1) => type),
		title: optional(textField),
		cover: optional(webAddressField),
	});
	return z.object({
		cart: z.object({ items: z.array(cartItem).default([]) }),
		customerName: optional(textField),
		customerEmail: optional(customer.email),
		customerPhone: optional(customer.phone),
		customerDocument: optional(customer.document),
		notify: z.enum(['none', 'credential', 'trigger', 'thisExecution', 'url'], {
			message: 'must be none, credential, trigger, thisExecution or url',
		}),
		notificationUrl: optional(textField),
		simplify: yesNoField,
		additionalFields: withAddedReference.pipe(
			z.object({
				amount: optional(moneyField(unit)),
				installments: optional(wholeNumberField(1)),
				tracking: z
					.object({
						src: optional(textField),
						utmSource: optional(textField),
						utmCampaign: optional(textField),
						utmContent: optional(textField),
						utmTerm: optional(textField),
						utmMedium: optional(textField),
					})
					.optional(),
				customFields: optional(jsonObjectField),
				orderReference: referenceField.optional(),
			}),
		),
		options: z.object({
			...requestOptionsShape,
			...qrCodeOptionsShape,
			amountUnit: amountUnitField,
			outputUnit: outputUnitField,
			checkCustomer: optional(yesNoField),
			fillFromCatalog: optional(yesNoField),
			repeatCode: optional(textField),
		}),
	});
}

export type CreateForm = z.output<ReturnType<typeof createSchema>>;
