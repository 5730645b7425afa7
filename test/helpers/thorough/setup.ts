import { ROOT } from '../n8n/paths';
import { capture } from '../n8n/processes';

const MODEL_RUNS = '40';

/** The suite tests the package as it ships, and gives the models of `npm test` more sequences. */
export default async function setup(): Promise<void> {
	process.env.MODEL_RUNS ??= MODEL_RUNS;
	if (process.env.PACKED_BUILD === undefined) await capture('npm', ['run', 'build'], ROOT);
}
