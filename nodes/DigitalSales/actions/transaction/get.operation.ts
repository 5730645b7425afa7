import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod';
import { getTransaction } from '../../api/transactions';
import { transactionOutput } from '../../output/transaction';
import { outputUnitField, outputUnitOption } from '../../form/amountUnit';
import { hashField, required, yesNoField } from '../../form/fields';
import { qrCodeOptions, qrCodeOptionsShape, qrCodeProperty } from '../../form/qrCodeOptions';
import { readForm } from '../../form/readForm';
import {
	clientOptions,
	RATE_LIMIT_ADVICE,
	readingOptions,
	requestOptionsShape,
	timeoutOption,
} from '../../form/requestOptions';
import { simplifyProperty } from '../../form/simplifyProperty';
import type { Operation } from '../operation';
import { pixOutput } from './pixOutput';
import { hashProperty } from './hashProperty';

const properties: INodeProperties[] = [
	hashProperty,
	simplifyProperty,
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		default: {},
		options: [...readingOptions, ...qrCodeOptions, outputUnitOption, timeoutOption],
	},
];

const schema = z.object({
	transactionHash: required(hashField),
	simplify: yesNoField,
	options: z.object({ ...requestOptionsShape, ...qrCodeOptionsShape, outputUnit: outputUnitField }),
});

/** Transaction > Get: GET /transactions/{hash} (API document, Endpoint 1). */
export const getTransactionOperation: Operation = {
	name: 'Get',
	value: 'get',
	action: 'Get a transaction',
	description: 'Read one transaction by its hash',
	properties,
	serviceFields: { hash: 'transactionHash' },
	advice: { rateLimited: RATE_LIMIT_ADVICE },
	creates: false,
	itemsAtOnce: 32,
	prepare(context, itemIndex) {
		const { transactionHash, simplify, options } = readForm(context, itemIndex, properties, schema);
		return {
			clientOptions: clientOptions(options),
			about: `transaction ${transactionHash}`,
			async send({ client, hint }) {
				const transaction = await getTransaction(client, transactionHash);
				const binary = await pixOutput(transaction, {
					context,
					hint,
					qrCodeProperty: qrCodeProperty(options),
				});
				return [
					{
						json: transactionOutput(transaction, simplify, options.outputUnit),
						...(binary && { binary }),
					},
				];
			},
		};
	},
};
