import { readFileSync } from 'node:fs';
import path from 'node:path';
import manifest from '../../../package.json';
import { ROOT } from '../../host/n8n/paths';
import { messageOf, say } from '../../host/n8n/terminal';
import { notesOf } from './changelog';

/** What stands in package.json until the project has a public home. */
const STAND_IN = /example\.com/;

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
	const found = [
		tag === `v${version}` ? undefined : `The tag is "${tag}", the version "${version}".`,
		changelogProblem(),
		...Object.entries({ homepage, repository: repository.url, author: author.email }).map(
			([name, value]) =>
				STAND_IN.test(value) ? `${name} in package.json is still a placeholder.` : undefined,
		),
	];
	return found.filter((problem) => problem !== undefined);
}

const found = problems(process.argv[2] ?? '');
for (const problem of found) say(problem);
if (found.length > 0) process.exitCode = 1;
