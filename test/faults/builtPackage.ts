/* eslint-disable @typescript-eslint/no-require-imports -- the build is there only after `npm run build` */
import type { ICredentialType, INodeType } from 'n8n-workflow';
import { ACTION_TYPE, CREDENTIAL_TYPE, NodeProcess, processedItems } from '../engine/harness';
import type { ReplaceableClock } from '../support/virtualTime';

interface BuiltClasses {
	DigitalSales: new () => INodeType;
	DigitalSalesApi: new () => ICredentialType;
}

const classes = (): BuiltClasses => require('../../index.js') as BuiltClasses;
const api = '../../dist/nodes/DigitalSales/api';

/** The package as it was built, in one process. */
export const builtPackage = new NodeProcess({
	nodes: { [ACTION_TYPE]: () => new (classes().DigitalSales)() },
	credentials: { [CREDENTIAL_TYPE]: () => new (classes().DigitalSalesApi)() },
});

/** The clock of the built package. */
export const { clock: builtClock } = require(`${api}/clock`) as { clock: ReplaceableClock };

const { processState } = require(`${api}/processState`) as {
	processState: Record<string, { clear?: () => void }>;
};

/** What a restart of n8n does: the process knows nothing any more. */
export function restart(): void {
	for (const memory of Object.values(processState)) memory.clear?.();
}

/** Forgets what the process and n8n's database know of accounts, notices and charges. */
export function forgetEverything(): void {
	restart();
	processedItems.clear();
}
