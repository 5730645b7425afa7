import { getTransaction } from '../../api/transactions';
import { hashField, required } from '../../form/fields';
import { field, formOf, group } from '../../form/formOf';
import { outputUnitOption, qrCodeOptions, simplifyOption } from '../../form/outputOptions';
import { readForm } from '../../form/readForm';
import {
	clientOptions,
	RATE_LIMIT_ADVICE,
	readingOptions,
	timeoutOption,
} from '../../form/requestOptions';
import type { Operation } from '../operation';
import { transactionItem } from './transactionItem';

export const transactionHash = field(
	{
		displayName: 'Transaction Hash',
		name: 'transactionHash',
		type: 'string',
		required: true,
		default: '',
		placeholder: 'e.g. ab12cd34ef',
		description: 'The hash of the transaction, as returned by Create PIX or the trigger',
	},
	required(hashField),
	'hash',
);

const form = formOf([
	transactionHash,
	simplifyOption,
	group({ displayName: 'Options', name: 'options', placeholder: 'Add Option' }, [
		...readingOptions,
		...qrCodeOptions,
		outputUnitOption,
		timeoutOption(),
	]),
]);

/** Transaction > Get: GET /transactions/{hash} (API document, Endpoint 1). */
export const getTransactionOperation: Operation = {
	name: 'Get',
	value: 'get',
	action: 'Get a transaction',
	description: 'Read one transaction by its hash',
	form,
	advice: { rateLimited: RATE_LIMIT_ADVICE },
	creates: false,
	itemsAtOnce: 32,
	prepare(run, itemIndex) {
		const choice = readForm(run.context, itemIndex, form);
		const { transactionHash: hash, options } = choice;
		return {
			about: `transaction ${hash}`,
			async send() {
				const transaction = await getTransaction(run.client(clientOptions(options)), hash);
				return [await transactionItem(run, transaction, choice)];
			},
		};
	},
};
