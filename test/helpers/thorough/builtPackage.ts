/* eslint-disable @typescript-eslint/no-require-imports -- the build is there only after `npm run build` */
import { type Classes, NodeProcess, processedItems } from '../engine';

export const builtPackage = new NodeProcess(require('../../../index.js') as Classes);

const { clearProcessState: restart } =
	require('../../../dist/nodes/DigitalSales/shared/processState') as {
		clearProcessState: () => void;
	};

/** Clears the memory of the process and n8n's table. */
export function forgetEverything(): void {
	restart();
	processedItems.clear();
}
