const { readdirSync, readFileSync } = require('node:fs');
const path = require('node:path');

/** Which file each mutant is in: Stryker hands on a mutant's number alone, and writes it into the file. */
let files;

function readFiles() {
	const found = new Map();
	for (const name of readdirSync('nodes', { recursive: true })) {
		if (!name.endsWith('.ts')) continue;
		const text = readFileSync(path.join('nodes', name), 'utf8');
		for (const [, mutant] of text.matchAll(/stryMutAct_\w+\("(\d+)"\)/g)) found.set(mutant, name);
	}
	return found;
}

/** The path of the file that a mutant is in, below nodes/; empty without one, as in the first run. */
module.exports = function mutatedFile(mutant) {
	files ??= readFiles();
	return files.get(mutant) ?? '';
};
