import { ROOT } from '../n8n/paths';
import { run } from '../n8n/processes';

/** The suite tests the package as it ships. */
export default async function setup(): Promise<void> {
	if (process.env.PACKED_BUILD === undefined) await run('npm', ['run', 'build'], ROOT);
}
