import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v3';

/*
 * Which run of the node this is: a node in a loop runs several times in one execution.
 *
 * Rests on (since n8n 2.30.0): `$runIndex` of the expressions counts from 0.
 * If it stops: Create PIX fails before anything is sent.
 */

export function readRunIndex(context: IExecuteFunctions): number {
	return z.number().parse(context.getWorkflowDataProxy(0).$runIndex);
}
