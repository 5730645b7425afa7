import sortBy from 'lodash/sortBy';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { inOptions } from './inOptions';
import { clearProcessState } from '../../nodes/DigitalSales/shared/processState';
import type { SandboxOptions } from '../sandbox';
import { chargeAt } from './charge';
import {
	ACTION_TYPE,
	NO_OP_TYPE,
	runWorkflow,
	START_TYPE,
	type RunHandle,
	type RunOptions,
	type RunOutcome,
	type StoredRun,
	type WorkflowOutcome,
} from './engine';
import { type Account, pixParameters, useAccount } from './account';

/** How a test runs Wait for Payment. */
export interface WaitOptions extends Partial<RunOptions> {
	parameters?: INodeParameters;
	/** The time limit in minutes. */
	minutes?: number;
	/** Settings of the node, such as `onError` or `executeOnce`. */
	settings?: IDataObject;
}

/** Opens a waiting room for the tests of a block. */
export function useWaitingRoom(options: SandboxOptions = {}): WaitingRoom {
	// The sandbox sends each webhook only once.
	return new WaitingRoom(useAccount({ resendAfterSeconds: [], ...options }));
}

/** A waiting room for the payments of an account that a test has opened. */
export function waitingRoomOf(account: Account): WaitingRoom {
	return new WaitingRoom(account);
}

/** An account, and executions that wait for its payments. */
class WaitingRoom {
	constructor(readonly account: Account) {}

	/** Forgets all process state, as a restart of n8n does. */
	forget(): void {
		clearProcessState();
	}

	/** When a transaction was read, in minutes after the first read. */
	lookMinutes(hash: string): number[] {
		const reads = this.account.sandbox.requests.filter(
			({ method, path }) => method === 'GET' && path.endsWith(`/${hash}`),
		);
		return reads.map(({ at }) => (at - (reads[0]?.at ?? 0)) / 60_000);
	}

	/** Charges a customer without a webhook address. */
	async charge(): Promise<string> {
		return await chargeAt(this.account.sandbox);
	}

	/** Sets the status of these transactions, `paid` by default. */
	async setStatus(hashes: string[], status = 'paid'): Promise<void> {
		for (const hash of hashes) await this.account.sandbox.setStatus(hash, status);
	}

	/** How often this transaction was read, or any transaction. */
	reads(hash?: string): number {
		return this.account.reads(hash);
	}

	/** Waits with one item per hash, then runs the node "After". Resolves when the run is parked or has ended. */
	wait(hashes: string[], options: WaitOptions = {}): RunHandle<WorkflowOutcome> {
		const { parameters, minutes, settings, ...more } = options;
		const limit = minutes && { timeLimit: minutes, timeLimitUnit: 'minutes' };
		return runWorkflow({
			nodes: [
				{ name: 'Start', type: START_TYPE },
				{
					...settings,
					name: 'Wait',
					type: ACTION_TYPE,
					parameters: waitParameters({ ...limit, ...parameters }),
				},
				{ name: 'After', type: NO_OP_TYPE },
			],
			startItems: hashes.map((hash) => ({ order: `order of ${hash}`, hash })),
			mode: 'trigger',
			credentials: this.account.credentials,
			...more,
		});
	}

	/** Charges a customer and waits for the payment in one run, as workflows do. */
	chargeAndWait(minutes?: number): RunHandle<WorkflowOutcome> {
		const limit = minutes && { timeLimit: minutes, timeLimitUnit: 'minutes' };
		const parameters = pixParameters(this.account.sandbox, { webhooksGoTo: 'automatic' });
		return runWorkflow({
			nodes: [
				{ name: 'Start', type: START_TYPE },
				{ name: 'Charge', type: ACTION_TYPE, parameters },
				{ name: 'Wait', type: ACTION_TYPE, parameters: waitParameters({ ...limit }) },
				{ name: 'After', type: NO_OP_TYPE },
			],
			mode: 'trigger',
			credentials: this.account.credentials,
		});
	}

	/** Like `wait`, but the run must be parked. */
	async park(hashes: string[], options: WaitOptions = {}): Promise<StoredRun> {
		const { parked, status, error } = await this.wait(hashes, options);
		if (!parked) throw new Error(`The run is not parked but ${status}: ${error?.message}`);
		return parked;
	}
}

/** Parameters of Transaction > Wait for Payment for the hash of each item. */
export function waitParameters(more: INodeParameters = {}): INodeParameters {
	return {
		resource: 'transaction',
		operation: 'waitForPayment',
		transactionHash: '={{ $json.hash }}',
		...inOptions(more),
	};
}

/** The items that the node after the wait received, by Paid and then by Not Paid. */
export function received(outcome: RunOutcome | undefined): IDataObject[] | undefined {
	const runs = outcome?.run.data.resultData.runData.After;
	const byOutput = runs && sortBy(runs, ({ source }) => -(source[0]?.previousNodeOutput ?? 0));
	return byOutput?.flatMap(({ data }) => (data?.main?.[0] ?? []).map(({ json }) => json));
}

/** The items that left by each output of the wait. */
export function leftBy(outcome: RunOutcome | undefined): IDataObject[][] | undefined {
	return outcome?.data.Wait?.outputs.map((items) => items.map(({ json }) => json));
}
