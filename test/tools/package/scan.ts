import { ROOT } from '../../helpers/n8n/paths';
import { messageOf, say, step } from '../../helpers/n8n/terminal';
import { packAndUnpack, unpack } from './unpack';

/** What the scanner looks at in a published tarball; it names these itself, but exports no list. */
const TARBALL_PATTERNS = ['**/*.js', 'package.json'];

/**
 * Scans the sources, and a given tarball or else one that is built of them, with n8n's official scanner.
 * It lints with the settings of no ESLint configuration of ours, and without comments that switch rules
 * off: what passes here passes there.
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
			// It also passes where its patterns match no file, and then says so.
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
