import { getTransaction } from '../../api';
import { quoteText } from '../../domain';
import {
	defineForm,
	defineOptions,
	type FormValues,
	outputFieldsWithDataUrl,
	qrCodeImageOption,
	simplifyField,
	transactionHashField,
} from '../../form';
import { isTool } from '../../n8n';
import { NotSentError } from '../../output';
import type { Operation } from '../operation';
import { buildTransactionItem } from './transactionItem';

const getForm = defineForm([
	transactionHashField,
	simplifyField,
	defineOptions([qrCodeImageOption, outputFieldsWithDataUrl]),
]);

/** Transaction > Get: GET /transactions/{hash} (API document, Endpoint 1). */
export const getTransactionOperation: Operation<FormValues<typeof getForm>> = {
	resource: 'transaction',
	name: 'Get',
	value: 'get',
	action: 'Get a transaction',
	description: 'Read one transaction by its hash',
	form: getForm,
	kind: 'read',
	assertUsable(context) {
		const unfilled = transactionHashField.property.default;
		const { transactionHash = unfilled } = context.getNode().parameters;
		if (transactionHash !== unfilled || !isTool(context)) return;

		// With the default expression, a tool would always read the agent's input item.
		throw new NotSentError(
			'Transaction Hash is not filled in by the agent',
			'Press the button in the field Transaction Hash that lets the model define it.',
		);
	},
	prepare: (run, _itemIndex, { transactionHash, simplify, options }) => ({
		about: `transaction ${quoteText(transactionHash)}`,
		async send() {
			const transaction = await getTransaction(run.newClient(), transactionHash);

			return [await buildTransactionItem(run, transaction, { simplify, ...options })];
		},
	}),
};
