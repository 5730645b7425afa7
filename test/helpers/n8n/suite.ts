import { installHost } from './host';
import { packBuild } from './package';

/** Runs once before the files of a suite, which may run at the same time. */
export default async function setUpSuite(): Promise<void> {
	await installHost();
	process.env.PACKED_BUILD = await packBuild();
}
