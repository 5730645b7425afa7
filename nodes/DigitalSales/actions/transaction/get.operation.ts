import type { IExecuteFunctions } from 'n8n-workflow';
import { getTransaction } from '../../api/transactions';
import { mistake, readForm } from '../../form/readForm';
import { isTool } from '../../once/execution';
import type { Operation } from '../operation';
import { transactionForm, transactionHash } from './get.form';
import { transactionItem } from './transactionItem';

/** Transaction > Get: GET /transactions/{hash} (API document, Endpoint 1). */
export const getTransactionOperation: Operation = {
	name: 'Get',
	value: 'get',
	action: 'Get a transaction',
	description: 'Read one transaction by its hash',
	form: transactionForm,
	creates: false,
	readsEach: true,
	prepare(run, itemIndex) {
		refuseUnfilledTool(run.context, itemIndex);
		const choice = readForm(run.context, itemIndex, transactionForm);
		const { transactionHash: hash } = choice;
		return {
			about: `transaction ${hash}`,
			async send() {
				const transaction = await getTransaction(run.client(), hash);
				return [await transactionItem(run, transaction, choice)];
			},
		};
	},
};

/** An agent's tool would read the hash of the item that the agent was started with, whatever was asked. */
function refuseUnfilledTool(context: IExecuteFunctions, itemIndex: number): void {
	const { transactionHash: typed } = context.getNode().parameters;
	const unfilled = [undefined, ...transactionHash.properties.map((property) => property.default)];
	if (!isTool(context) || !unfilled.includes(typed)) return;
	throw mistake(
		context,
		itemIndex,
		'Transaction Hash is not filled in by the agent',
		'Press the button in the field Transaction Hash that lets the model define it.',
	);
}
