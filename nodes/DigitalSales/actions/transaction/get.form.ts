import { hashField, required } from '../../form/fields';
import { field, formOf, group } from '../../form/formOf';
import { fieldsOption, qrCodeImageOption, simplifyOption } from '../../form/outputOptions';

export const transactionHash = field(
	{
		displayName: 'Transaction Hash',
		name: 'transactionHash',
		type: 'string',
		required: true,
		// What Create PIX and the trigger return.
		default: '={{ $json.hash }}',
		placeholder: 'e.g. ab12cd34ef',
		description:
			'The hash of the transaction. By default the field "hash" of the input item, which Create PIX and the trigger return.',
	},
	required(hashField),
	'hash',
);

/** The form of Transaction > Get: GET /transactions/{hash} (API document, Endpoint 1). */
export const transactionForm = formOf([
	transactionHash,
	simplifyOption,
	group({ displayName: 'Options', name: 'options', placeholder: 'Add Option' }, [
		qrCodeImageOption,
		fieldsOption,
	]),
]);
