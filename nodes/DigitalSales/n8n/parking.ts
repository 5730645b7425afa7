import { randomUUID } from 'crypto';
import type { IDataObject, IExecuteData, IExecuteFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { z } from 'zod/v3';
import { BoundedMap, digest, processState } from '../shared';

/*
 * Since n8n 2.30.0, n8n puts the entry of a waiting node back at the front of its stack. On resuming, it disables the
 * node and hands on the entry's input. So `parkExecution` empties the entry, and adds a copy with the input, which n8n
 * runs next. If that stops, the node refuses to wait, or a waiting execution ends without running the next nodes.
 */

/** The state is an item, because n8n redacts items for people without permission. */
const STATE_KEY = 'digitalSalesWait';

/** `z.custom`, because the code writes to n8n's own object, and other schemas copy. */
const contextSchema = z.object({
	runExecutionData: z.object({
		executionData: z.object({
			nodeExecutionStack: z.custom<IExecuteData[]>(Array.isArray),
		}),
	}),
});
const stateSchema = z.object({
	[STATE_KEY]: z.tuple([
		z.tuple([z.object({ json: z.object({ state: z.unknown(), parkedBy: z.string() }) })]),
	]),
});

const thisProcess = processState({
	id: randomUUID(),
	clear() {
		this.id = randomUUID();
	},
});

interface Resumed {
	entry: WeakRef<IExecuteData>;
	/** By `clock.elapsed()`, in milliseconds. */
	goesOnAt: number;
}

/** The entries parked elsewhere that this process has resumed, and has not parked since (recovery.ts). */
export const resumed = processState(new BoundedMap<Resumed>({ most: 10_000 }));

export function readParkedState(context: IExecuteFunctions): unknown {
	return readParked(context)?.state;
}

/** @returns what tells an entry apart that was parked before a restart of n8n, or on another worker */
export function parkedElsewhere(context: IExecuteFunctions): string | undefined {
	const parked = readParked(context);
	const isElsewhere = parked !== undefined && parked.parkedBy !== thisProcess.id;

	return isElsewhere ? digest(context.getExecutionId(), JSON.stringify(parked)) : undefined;
}

function readParked(context: IExecuteFunctions): { state?: unknown; parkedBy: string } | undefined {
	const { data } = stateSchema.safeParse(context.getExecuteData().data);
	return data?.[STATE_KEY][0][0].json;
}

/** @throws NodeOperationError if this version of n8n keeps its entries elsewhere */
export function assertCanPark(context: IExecuteFunctions, itemIndex: number): void {
	if (findStack(context)) return;
	const message = `${context.getNode().name} cannot wait in this version of n8n`;
	const description =
		'Nothing waits. Update the package, or use the Digital Sales Trigger, which works without waiting.';
	throw new NodeOperationError(context.getNode(), message, { description, itemIndex });
}

/** The node runs again at `until`, or when a webhook comes. */
export async function parkExecution(
	context: IExecuteFunctions,
	until: Date,
	state: IDataObject,
): Promise<void> {
	const { data } = context.getExecuteData();
	const parked = { state, parkedBy: thisProcess.id };
	resumed.delete(parkedElsewhere(context) ?? '');

	await park(context, until, { ...data, [STATE_KEY]: [[{ json: parked }]] });
}

/** As it was parked before. */
export async function parkAgain(context: IExecuteFunctions, until: Date): Promise<void> {
	await park(context, until, context.getExecuteData().data);
}

async function park(
	context: IExecuteFunctions,
	until: Date,
	data: IExecuteData['data'],
): Promise<void> {
	const entry = context.getExecuteData();
	// A copy, because n8n disables the node of the original.
	findStack(context)?.unshift({ ...entry, node: { ...entry.node }, data });

	entry.data = { main: [] };
	turnOffAlwaysOutputData(context);
	await context.putExecutionToWait(until);
}

/** It would run the nodes after the first output with an empty item. */
export function turnOffAlwaysOutputData(context: IExecuteFunctions): void {
	const entry = context.getExecuteData();
	entry.node = { ...entry.node, alwaysOutputData: false };
}

function findStack(context: IExecuteFunctions): IExecuteData[] | undefined {
	const { data } = contextSchema.safeParse(context);
	const { main } = context.getExecuteData().data;
	return main && data?.runExecutionData.executionData.nodeExecutionStack;
}
