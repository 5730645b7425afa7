import { packBuild } from '../n8n/package';

/** The suite tests the package as it ships. */
export default async function setup(): Promise<void> {
	process.env.PACKED_BUILD = await packBuild();
}
