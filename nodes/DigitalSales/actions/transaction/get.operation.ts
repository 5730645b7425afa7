import { getTransaction } from '../../api/transactions';
import { readForm } from '../../form/readForm';
import { clientOptions, RATE_LIMIT_ADVICE } from '../../form/requestOptions';
import type { Operation } from '../operation';
import { transactionForm } from './get.form';
import { transactionItem } from './transactionItem';

/** Transaction > Get: GET /transactions/{hash} (API document, Endpoint 1). */
export const getTransactionOperation: Operation = {
	name: 'Get',
	value: 'get',
	action: 'Get a transaction',
	description: 'Read one transaction by its hash',
	form: transactionForm,
	advice: { rateLimited: RATE_LIMIT_ADVICE },
	creates: false,
	itemsAtOnce: 32,
	prepare(run, itemIndex) {
		const choice = readForm(run.context, itemIndex, transactionForm);
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
