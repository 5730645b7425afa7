import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import manifest from '../../../package.json';
import { ROOT } from '../../host/n8n/paths';
import { messageOf, say } from '../../host/n8n/terminal';
import { identityFields, identityProblems } from './identity';

const USAGE =
	'npm run identity -- --homepage https://host/owner/name --author NAME --email ADDRESS';

/** Writes into package.json who publishes the package, and where. */
async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			homepage: { type: 'string', default: '' },
			author: { type: 'string', default: '' },
			email: { type: 'string', default: '' },
		},
	});
	const { homepage = '', author = '', email = '' } = values;
	const problems = identityProblems({ homepage, author, email });
	if (problems.length > 0) throw new Error(`${problems.join('\n')}\nUsage: ${USAGE}`);
	const changed = { ...manifest, ...identityFields({ homepage, author, email }) };
	await writeFile(path.join(ROOT, 'package.json'), `${JSON.stringify(changed, null, 2)}\n`);
}

main().catch((error: unknown) => {
	say(messageOf(error));
	process.exitCode = 1;
});
