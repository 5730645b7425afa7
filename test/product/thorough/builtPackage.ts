/* eslint-disable @typescript-eslint/no-require-imports -- the build is there only after `npm run build` */
import { type Classes, NodeProcess, processedItems } from '../engine/harness';
import type { ReplaceableClock } from '../../support/clocks';

const shared = '../../../dist/nodes/DigitalSales/shared';

/** The package as it was built, in one process. */
export const builtPackage = new NodeProcess(require('../../../index.js') as Classes);

/** The clock of the built package. */
export const { clock: builtClock } = require(`${shared}/clock`) as { clock: ReplaceableClock };

const { clearProcessWide } = require(`${shared}/processWide`) as { clearProcessWide: () => void };

/** What a restart of n8n does: the process knows nothing any more. */
export const restart = clearProcessWide;

/** Forgets what the process and n8n's database know of accounts, notices and charges. */
export function forgetEverything(): void {
	restart();
	processedItems.clear();
}
