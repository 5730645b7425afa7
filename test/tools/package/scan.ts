import { ROOT } from '../../helpers/n8n/paths';
import { messageOf, say, step } from '../../helpers/n8n/terminal';
import { packAndUnpack, unpack } from './unpack';

/** The files of a published tarball that the scanner reads. It does not export this list. */
const TARBALL_PATTERNS = ['**/*.js', 'package.json'];

/**
 * Scans the sources, and a tarball that is given or built, with n8n's official scanner. The scanner ignores our ESLint
 * configuration and comments that switch rules off, so that what passes here passes at n8n.
 */
async function main(published: string | undefined): Promise<void> {
	const { SOURCE_FILE_PATTERNS, analyzePackage } = await import(
		'@n8n/scan-community-package/scanner/scanner.mjs'
	);
	const packed = await (published === undefined
		? step('Build and pack', packAndUnpack)
		: unpack(published));
	try {
		const legs = [
			{ label: 'Sources', folder: ROOT, patterns: SOURCE_FILE_PATTERNS },
			{ label: 'Tarball', folder: packed.folder, patterns: TARBALL_PATTERNS },
		];
		for (const { label, folder, patterns } of legs) {
			const { passed, message, details } = await step(
				label,
				async () => await analyzePackage(folder, patterns),
			);
			// If its patterns match no file, it passes with a message.
			if (passed && message === undefined) continue;
			say(`\n${label}: ${message ?? 'not passed'}\n${details ?? ''}`);
			process.exitCode = 1;
		}
	} finally {
		await packed.remove();
	}
	if (process.exitCode !== 1) say('Passed. Provenance is checked once a version is published.');
}

main(process.argv[2]).catch((error: unknown) => {
	say(messageOf(error));
	process.exitCode = 1;
});
