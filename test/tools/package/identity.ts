import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import manifest from '../../../package.json';

const USAGE =
	'npm run identity -- --homepage https://host/owner/name --author NAME --email ADDRESS';

/** Who publishes the package, and where. All of it stands in package.json, and nowhere else. */
export interface Identity {
	homepage: string;
	author: string;
	email: string;
}

/** What stands in package.json until the project has a public home. */
const STAND_IN = /[/@]example\.com(\/|$)|^Example /;
/** The address of a repository, from which that of its git is derived. */
const HOMEPAGE = /^https:\/\/[\w.-]+(\/[\w.-]+){2}(?<!\.git)$/;
const NAME = /^\S.*$/;
const EMAIL = /^[^\s@<>]+@[^\s@<>]+\.[^\s@<>]+$/;

export const isPlaceholder = (value: string): boolean => STAND_IN.test(value);

/** What package.json has in place of an identity, as long as nobody has set one. */
export const PLACEHOLDERS = [manifest.homepage, manifest.author.name, manifest.author.email].filter(
	isPlaceholder,
);

/** What package.json says of an identity. */
export function identityFields({ homepage, author, email }: Identity) {
	return {
		homepage,
		repository: { type: 'git', url: `git+${homepage}.git` },
		author: { name: author, email },
	};
}

/** What is wrong with an identity, a sentence for each field of package.json. */
export function identityProblems({ homepage, author, email }: Identity): string[] {
	const fields = [
		{ name: 'homepage', value: homepage, isRight: HOMEPAGE, example: 'https://host/owner/name' },
		{ name: 'author.name', value: author, isRight: NAME, example: 'a name' },
		{ name: 'author.email', value: email, isRight: EMAIL, example: 'an e-mail address' },
	];
	return fields.flatMap(({ name, value, isRight, example }) => {
		if (isPlaceholder(value))
			return [`${name} is a placeholder ("${value}"): npm run identity sets it.`];
		return isRight.test(value) ? [] : [`${name} has to be ${example}, not "${value}".`];
	});
}

/** Writes into the package.json of a folder who publishes the package, and where. */
export async function setIdentity(args: string[], folder: string): Promise<void> {
	const { values } = parseArgs({
		args,
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
	await writeFile(path.join(folder, 'package.json'), `${JSON.stringify(changed, null, 2)}\n`);
}
