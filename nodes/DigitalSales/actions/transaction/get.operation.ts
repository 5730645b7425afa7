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
import { NotSentError } from '../../output';
import type { ReadOperation } from '../operation';
import { buildTransactionItem } from './transactionItem';

const getForm = defineForm([
	transactionHashField,
	simplifyField,
	defineOptions([qrCodeImageOption, outputFieldsWithDataUrl]),
]);

/** Transaction > Get: GET /transactions/{hash} (API document, Endpoint 1). */
export const getTransactionOperation: ReadOperation<FormValues<typeof getForm>> = {
	resource: 'transaction',
	name: 'Get',
	value: 'get',
	action: 'Get a transaction',
	description: 'Read one transaction by its hash',
	form: getForm,
	kind: 'read',
	assertUsableByAgent(context) {
		const unfilled = transactionHashField.property.default;
		const { transactionHash = unfilled } = context.getNode().parameters;
		if (transactionHash !== unfilled) return;

		// With the default expression, a tool would always read the agent's input item.
		throw new NotSentError(
			'Transaction Hash is not filled in by the agent',
			'Press the button in the field Transaction Hash that lets the model define it.',
		);
	},
	about: ({ transactionHash }) => `transaction ${quoteText(transactionHash)}`,
	async read(run, { transactionHash, simplify, options }) {
		const client = run.newClient({ priority: 'bulk' });
		const transaction = await getTransaction(client, transactionHash);

		return [await buildTransactionItem(run, transaction, { simplify, ...options })];
	},
};
