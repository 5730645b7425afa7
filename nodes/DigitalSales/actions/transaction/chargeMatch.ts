import compact from 'lodash/compact';
import type { IExecuteFunctions } from 'n8n-workflow';
import type { Transaction } from '../../api/schemas/transaction';
import { normalizeContact } from '../../idempotency/fingerprints';
import { isTool } from '../../n8n/tool';
import type { Charge } from './charge';

export const DOCUMENT = 'Customer CPF or CNPJ';

/** Lists the customer fields that a charge and a transaction both state, unmasked, with different values. */
export function findDifferingFields({ body }: Charge, { customer }: Transaction): string[] {
	const [requested, stated] = [normalizeContact(body.customer), normalizeContact(customer)];
	const isDifferent = (field: keyof typeof requested): boolean => {
		const { [field]: value } = stated;
		return Boolean(requested[field] && value) && requested[field] !== value && !isMasked(value);
	};
	return compact([
		isDifferent('document') && DOCUMENT,
		isDifferent('email') && 'Customer Email',
		isDifferent('phone') && 'Customer Phone',
	]);
}

/**
 * Whether a transaction can be the requested charge. An equal document is enough, because a person may have corrected
 * the e-mail address and the phone since. An agent's call must match in every field.
 */
export function matchesCharge(
	context: IExecuteFunctions,
	charge: Charge,
	transaction: Transaction,
): boolean {
	const differing = findDifferingFields(charge, transaction);
	const { document: requested } = normalizeContact(charge.body.customer);
	const { document: stated } = normalizeContact(transaction.customer);
	const isDocumentEnough = requested && stated && !isMasked(stated) && !isTool(context);
	const isOtherCustomer = isDocumentEnough ? differing.includes(DOCUMENT) : differing.length > 0;
	const isSameAmount = transaction.amount == null || transaction.amount === charge.amount;
	return !isOtherCustomer && (isSameAmount || charge.isFilled);
}

function isMasked(value: string | null | undefined): boolean {
	return value?.includes('*') === true;
}
