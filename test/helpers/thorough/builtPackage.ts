/* eslint-disable @typescript-eslint/no-require-imports -- the build is there only after `npm run build` */
import { type Classes, NodeProcess, processedItems } from '../engine';

/** The package as it was built, in one process. */
export const builtPackage = new NodeProcess(require('../../../index.js') as Classes);

/** What a restart of n8n does: the process knows nothing any more. */
export const { clearProcessState: restart } =
	require('../../../dist/nodes/DigitalSales/shared/processState') as {
		clearProcessState: () => void;
	};

/** Forgets what the process and n8n's database know of accounts, notices and charges. */
export function forgetEverything(): void {
	restart();
	processedItems.clear();
}
