import { readFileSync } from 'node:fs';
import path from 'node:path';
import manifest from '../../../package.json';
import { ROOT } from '../../host/n8n/paths';
import { messageOf, say } from '../../host/n8n/terminal';
import { notesOf } from './changelog';
import { identityFields, identityProblems } from './identity';

function changelogProblem(): string | undefined {
	try {
		notesOf(readFileSync(path.join(ROOT, 'CHANGELOG.md'), 'utf8'), manifest.version);
		return undefined;
	} catch (error) {
		return messageOf(error);
	}
}

/** What keeps the version in package.json from being published under a tag. */
function problems(tag: string): string[] {
	const { version, homepage, repository, author } = manifest;
	const identity = { homepage, author: author.name, email: author.email };
	const { url } = identityFields(identity).repository;
	const found = [
		tag === `v${version}` ? undefined : `The tag is "${tag}", the version "${version}".`,
		changelogProblem(),
		...identityProblems(identity),
		repository.url === url ? undefined : `repository.url has to be "${url}".`,
	];
	return found.filter((problem) => problem !== undefined);
}

const found = problems(process.argv[2] ?? '');
for (const problem of found) say(problem);
if (found.length > 0) process.exitCode = 1;
