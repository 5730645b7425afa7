import { cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PACKAGE_NAME } from '../../host/n8n/paths';

const COPY = `${PACKAGE_NAME}-without-ledger`;
/** How the built module says whether a node has a ledger. */
const ANSWER = /static of\(context\) \{/;

/**
 * Installs a second copy of the package beside the first, the same but for its ledger: there it says
 * that it has none, as it does in n8n's Agents. n8n has to be restarted to see it.
 */
export async function installWithoutLedger(userFolder: string): Promise<void> {
	const modules = path.join(userFolder, '.n8n', 'nodes', 'node_modules');
	const copy = path.join(modules, COPY);
	await cp(path.join(modules, PACKAGE_NAME), copy, { recursive: true });
	const manifest = path.join(copy, 'package.json');
	const text = await readFile(manifest, 'utf8');
	await writeFile(manifest, text.replace(`"${PACKAGE_NAME}"`, `"${COPY}"`));
	const ledger = path.join(copy, 'dist', 'nodes', 'DigitalSales', 'once', 'ledger.js');
	const code = await readFile(ledger, 'utf8');
	if (!ANSWER.test(code)) throw new Error('The built ledger has another shape.');
	await writeFile(
		ledger,
		code.replace(ANSWER, (found) => `${found} return undefined;`),
	);
}

/** The type of a node of that copy. */
export function withoutLedger(type: string): string {
	return type.replace(`${PACKAGE_NAME}.`, `${COPY}.`);
}
