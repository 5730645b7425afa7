import type { IExecuteFunctions } from 'n8n-workflow';
import { createHash } from 'crypto';
import type { ChargeState } from '../../api/chargeState';
import { processState } from '../../api/processState';
import { isTool } from '../isTool';
import { now, OrderBook } from './orderBook';

const MOST_PLACES = 10_000;

/**
 * Remembers a charge so that making it again is safe, under two names. The place in the execution
 * (node, run, item) needs no field of the form: n8n's Retry On Fail runs all items again, and whoever
 * was charged must not be charged again. The Order Reference, where the user gives one, also holds
 * for later executions of the workflow.
 */
export class ChargeMemory {
	private readonly place: string | undefined;
	private readonly orders: OrderBook | undefined;

	constructor(
		context: IExecuteFunctions,
		itemIndex: number,
		asked: string,
		private readonly orderReference: string | undefined,
	) {
		const workflowId = String(context.getWorkflow().id);
		this.place = placeInExecution(context, workflowId, itemIndex, asked);
		if (orderReference !== undefined) {
			this.orders = new OrderBook(
				context.getWorkflowStaticData('global'),
				workflowId,
				context.getMode() !== 'manual',
			);
		}
	}

	/** Whether n8n has dropped the order references of earlier executions. */
	get isLost(): boolean {
		return this.orders?.isLost ?? false;
	}

	/** What this very execution knows of the charge from an earlier try of the node. */
	inThisExecution(): ChargeState | undefined {
		return this.place === undefined ? undefined : processState.charges.get(this.place);
	}

	/** What is known under the order reference. */
	underReference(): ChargeState | undefined {
		return this.orderReference === undefined ? undefined : this.orders?.get(this.orderReference);
	}

	/** Enters that the charge is being sent; from now on it is in doubt until an answer is known. */
	begin(): void {
		this.write({ state: 'underWay' });
	}

	/** Enters that no usable answer came. */
	doubt(): void {
		this.write({ state: 'inDoubt', since: now() });
	}

	/** Enters the transaction that came of it. */
	made(hash: string): void {
		this.write({ state: 'made', hash });
	}

	/** Forgets the charge, because it provably was not made. */
	clear(): void {
		if (this.place !== undefined) processState.charges.delete(this.place);
		if (this.orderReference !== undefined) this.orders?.delete(this.orderReference);
	}

	private write(charge: ChargeState): void {
		if (this.place !== undefined) {
			processState.charges.delete(this.place);
			processState.charges.set(this.place, charge);
			forgetSurplus();
		}
		if (this.orderReference !== undefined) this.orders?.set(this.orderReference, charge);
	}
}

/**
 * In a loop the same node runs several times in one execution, hence the run index. As the tool of an
 * agent it gets a new one for each try and each call; there what was asked for tells a repeat.
 */
function placeInExecution(
	context: IExecuteFunctions,
	workflowId: string,
	itemIndex: number,
	asked: string,
): string | undefined {
	const executionId = context.getExecutionId();
	if (!executionId) return undefined;
	const turn = isTool(context)
		? createHash('sha256').update(asked).digest('hex')
		: String(context.evaluateExpression('{{ $runIndex }}', itemIndex));
	return [workflowId, executionId, context.getNode().id, turn, itemIndex].join(' ');
}

function forgetSurplus(): void {
	for (const oldest of processState.charges.keys()) {
		if (processState.charges.size <= MOST_PLACES) return;
		processState.charges.delete(oldest);
	}
}
