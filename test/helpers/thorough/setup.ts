import { ROOT } from '../n8n/paths';
import { capture } from '../n8n/processes';

/** The suite tests the package as it ships. */
export default async function setup(): Promise<void> {
	if (process.env.PACKED_BUILD === undefined) await capture('npm', ['run', 'build'], ROOT);
}
