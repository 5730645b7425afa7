import { ROOT } from '../n8n/paths';
import { capture } from '../n8n/processes';

/** The faults meet the package as it ships, so it is built first, unless somebody has just done so. */
export default async function build(): Promise<void> {
	if (process.env.PACKED_BUILD === undefined) await capture('npm', ['run', 'build'], ROOT);
}
