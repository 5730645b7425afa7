import type { IExecuteFunctions } from 'n8n-workflow';
import { getTransaction } from '../../api/transactions';
import { quoted } from '../../domain/text';
import { parameterError, readForm } from '../../form/readForm';
import { isTool } from '../../n8n/tool';
import type { Operation } from '../operation';
import { buildTransactionItem } from './transactionItem';
import { hashSchema, rejectBlank } from '../../form/fields';
import { defineField, defineForm, defineGroup, type FormValues } from '../../form/defineForm';
import {
	outputFieldsWithPicture,
	qrCodeImageOption,
	simplifyOption,
} from '../../form/outputOptions';

export const transactionHash = defineField({
	displayName: 'Transaction Hash',
	name: 'transactionHash',
	type: 'string',
	required: true,
	// What Create PIX and the trigger return.
	default: '={{ $json.hash }}',
	placeholder: 'e.g. ab12cd34ef',
	description:
		'The hash of the transaction. By default the field "hash" of the input item, which Create PIX and the trigger return.',
	sentAs: 'hash',
	reads: rejectBlank(hashSchema),
});

/** The form of Transaction > Get: GET /transactions/{hash} (API document, Endpoint 1). */
const transactionForm = defineForm([
	transactionHash,
	simplifyOption,
	defineGroup({ displayName: 'Options', name: 'options', placeholder: 'Add Option' }, [
		qrCodeImageOption,
		outputFieldsWithPicture,
	]),
]);

type GetForm = FormValues<typeof transactionForm>;

/** Transaction > Get: GET /transactions/{hash} (API document, Endpoint 1). */
export const getTransactionOperation: Operation<GetForm> = {
	name: 'Get',
	value: 'get',
	action: 'Get a transaction',
	description: 'Read one transaction by its hash',
	form: transactionForm,
	creates: false,
	readsEach: true,
	read({ context }, itemIndex) {
		refuseUnfilledTool(context, itemIndex);
		return readForm(context, itemIndex, transactionForm);
	},
	about: ({ transactionHash: hash }) => `transaction ${quoted(hash)}`,
	async send(run, _itemIndex, form) {
		const transaction = await getTransaction(run.client(), form.transactionHash);
		return [await buildTransactionItem(run, transaction, form)];
	},
};

/** An agent's tool would read the hash of the item that the agent was started with, whatever was asked. */
function refuseUnfilledTool(context: IExecuteFunctions, itemIndex: number): void {
	const { transactionHash: typed } = context.getNode().parameters;
	const unfilled = [undefined, ...transactionHash.properties.map((property) => property.default)];
	if (!isTool(context) || !unfilled.includes(typed)) return;
	throw parameterError(
		context,
		itemIndex,
		'Transaction Hash is not filled in by the agent',
		'Press the button in the field Transaction Hash that lets the model define it.',
	);
}
