import { stat } from 'node:fs/promises';
import path from 'node:path';
import { ROOT } from '../../host/n8n/paths';
import { messageOf, say, step } from '../../host/n8n/terminal';
import { packAndUnpack, unpack, type Packed } from './unpack';

/** What the scanner looks at in a published tarball; it names these itself, but exports no list. */
const TARBALL_PATTERNS = ['**/*.js', 'package.json'];

const LARGEST = 5;

interface Leg {
	label: string;
	folder: string;
	patterns: string[];
}

// The scanner lints with the settings of no ESLint configuration of ours, and without comments that
// switch rules off: what passes here passes there.
async function passes(leg: Leg): Promise<boolean> {
	const { analyzePackage } = await scanner();
	const analysis = await step(
		leg.label,
		async () => await analyzePackage(leg.folder, leg.patterns),
	);
	// It also passes where its patterns match no file, and then says so.
	if (analysis.passed && analysis.message === undefined) return true;
	say(`\n${leg.label}: ${analysis.message ?? 'not passed'}\n${analysis.details ?? ''}`);
	return false;
}

/** The largest files of a tarball, in words. */
async function largestParts({ folder, files }: Packed): Promise<string> {
	const parts = await Promise.all(
		files.map(async (file) => ({ file, bytes: (await stat(path.join(folder, file))).size })),
	);
	const largest = parts.sort((a, b) => b.bytes - a.bytes).slice(0, LARGEST);
	return largest.map(({ file, bytes }) => `${file} (${(bytes / 1_000).toFixed(1)} kB)`).join(', ');
}

async function scanner() {
	return await import('@n8n/scan-community-package/scanner/scanner.mjs');
}

/** Scans the sources, and a given tarball or else one that is built of them. */
async function main(): Promise<void> {
	const { SOURCE_FILE_PATTERNS } = await scanner();
	say("n8n's official scanner, both legs:");
	const [published] = process.argv.slice(2);
	const packed = await (published === undefined
		? step('Build and pack', packAndUnpack)
		: unpack(published));
	try {
		say(`The largest of ${packed.files.length} files: ${await largestParts(packed)}`);
		const sources = await passes({
			label: 'Sources',
			folder: ROOT,
			patterns: SOURCE_FILE_PATTERNS,
		});
		const tarball = await passes({
			label: 'Tarball',
			folder: packed.folder,
			patterns: TARBALL_PATTERNS,
		});
		if (!sources || !tarball) process.exitCode = 1;
		else say('Passed. Provenance is checked once a version is published.');
	} finally {
		await packed.remove();
	}
}

main().catch((error: unknown) => {
	say(messageOf(error));
	process.exitCode = 1;
});
