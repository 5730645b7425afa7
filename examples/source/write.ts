import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { files } from '.';

/** Writes every recipe in every language, and removes files without a recipe. */
async function write(): Promise<void> {
	const written = new Set<string>();
	for (const [file, text] of Object.entries(files())) {
		const target = path.join(__dirname, '..', file);
		await mkdir(path.dirname(target), { recursive: true });
		await writeFile(target, text);
		written.add(target);
	}
	for (const folder of new Set([...written].map((file) => path.dirname(file)))) {
		for (const name of await readdir(folder)) {
			const file = path.join(folder, name);
			if (name.endsWith('.json') && !written.has(file)) await rm(file);
		}
	}
}

void write();
