import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { ServiceError } from '../../api/serviceError';
import { createTransaction, getTransaction } from '../../api/transactions';
import type { ItemRun } from '../operation';
import { ChargeMemory } from './chargeMemory';

/** One charge to be made, and how to tell whether it was made before. */
export interface Charge {
	context: IExecuteFunctions;
	itemIndex: number;
	body: IDataObject;
	/** What the form asks for, before the catalog filled its blanks: the same in each try. */
	asked: string;
	/** The charge in a few words, for errors. */
	about: string;
	orderReference?: string;
	/** The user has looked and found that a charge in doubt was not made. */
	chargeAgain: boolean;
}

const REFERENCES_LOST =
	'n8n has not kept the order references that earlier executions of this workflow stored, as its queue mode does from version 2.40 on. Orders that another worker has charged are not recognised: do not repeat them.';

/**
 * Makes a charge, unless it was made before: then the existing transaction is read and given.
 *
 * @throws NodeOperationError where an earlier attempt is in doubt; nothing is sent then
 * @throws ServiceError
 */
export async function chargeOnce(charge: Charge, { client, hint }: ItemRun): Promise<IDataObject> {
	const { context, itemIndex, asked, orderReference } = charge;
	const memory = new ChargeMemory(context, itemIndex, asked, orderReference);
	if (memory.isLost) {
		hint(REFERENCES_LOST);
		context.logger.warn(REFERENCES_LOST);
	}
	const earlier = knownCharge(charge, memory);
	if (earlier !== undefined) {
		const customer =
			context.getInputData().length === 1 ? 'The customer' : `The customer of item ${itemIndex}`;
		hint(
			`${customer} had been charged before${named(charge)}; no second charge was made, and the existing transaction ${earlier} is given.`,
		);
		return await getTransaction(client, earlier);
	}
	memory.begin();
	const transaction = await createTransaction(client, charge.body).catch((error: unknown) => {
		if (error instanceof ServiceError && error.facts.outcomeUnknown) memory.doubt();
		else memory.clear();
		throw error;
	});
	memory.made(String(transaction.hash));
	return transaction;
}

/** The hash of a charge that was made before; undefined where none was begun. */
function knownCharge(charge: Charge, memory: ChargeMemory): string | undefined {
	const here = memory.inThisExecution();
	if (here?.state === 'made') return here.hash;
	if (here) throw refusal(charge, 'An earlier try in this execution got no usable answer.');
	const known = memory.underReference();
	if (known?.state === 'made') return known.hash;
	if (known?.state === 'underWay') {
		throw refusal(charge, 'Another execution is charging this order right now.');
	}
	if (known?.state === 'inDoubt' && !charge.chargeAgain) {
		throw refusal(charge, `An attempt at ${known.since} got no usable answer.`);
	}
	return undefined;
}

function refusal(charge: Charge, reason: string): NodeOperationError {
	return new NodeOperationError(
		charge.context.getNode(),
		`It is not known whether this was charged before${named(charge)}, so it was not charged again`,
		{
			itemIndex: charge.itemIndex,
			description: [
				`${reason} It was about: ${charge.about}.`,
				'Look in the panel of the service. If the transaction exists, go on with its hash (Transaction > Get). If it does not, run again with Options > Order in Doubt set to Charge Again.',
			].join('\n'),
		},
	);
}

function named({ orderReference }: Charge): string {
	return orderReference === undefined ? '' : ` under order reference "${orderReference}"`;
}
