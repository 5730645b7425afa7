const UNRELEASED = '## [Unreleased]';
const NEXT_SECTION = /\n## \[/;

/** Splits a changelog behind a heading: what comes up to there, that section, and the older ones. */
function split(text: string, heading: string): [before: string, section: string, after: string] {
	const start = text.indexOf(`\n${heading}`);
	if (start < 0) throw new Error(`CHANGELOG.md has no section "${heading}".`);
	const end = text.indexOf('\n', start + 1);
	const behind = end < 0 ? text.length : end;
	const rest = text.slice(behind);
	const next = NEXT_SECTION.exec(rest)?.index ?? rest.length;
	return [text.slice(0, behind), rest.slice(0, next).trim(), rest.slice(next).trim()];
}

/** Whether a section says anything: headings alone do not. */
const isEmpty = (section: string): boolean => !/^(?!#)./m.test(section);

/** What a changelog says of a version; rejects a version that it does not know or says nothing of. */
export function notesOf(text: string, version: string): string {
	const [, notes] = split(text, `## [${version}]`);
	if (isEmpty(notes)) throw new Error(`CHANGELOG.md says nothing of ${version}.`);
	return notes;
}

/** Makes the unreleased changes those of a version, and leaves an empty section for the next ones. */
export function release(text: string, version: string, day: string): string {
	const [before, notes, after] = split(text, UNRELEASED);
	if (isEmpty(notes)) throw new Error('CHANGELOG.md lists nothing under "Unreleased".');
	const sections = [before, `## [${version}] - ${day}`, notes, ...(after === '' ? [] : [after])];
	return `${sections.join('\n\n')}\n`;
}

/** What package.json says of who publishes the package, and where. */
export interface Identity {
	homepage: string;
	author: { name: string; email: string };
	repository: { url: string };
}

/** What stands in package.json until the project has a public home. */
const STAND_IN = /[/@]example\.com(\/|$)|^Example /;
const HOMEPAGE = /^https:\/\/[\w.-]+(\/[\w.-]+){2}(?<!\.git)$/;

export const isPlaceholder = (value: string): boolean => STAND_IN.test(value);

/** What is wrong with an identity, a sentence for each field of package.json. */
export function identityProblems({ homepage, author, repository }: Identity): string[] {
	const fields = { homepage, 'author.name': author.name, 'author.email': author.email };
	const problems = Object.entries(fields)
		.filter(([, value]) => isPlaceholder(value))
		.map(([name, value]) => `${name} is a placeholder ("${value}").`);
	if (!isPlaceholder(homepage) && !HOMEPAGE.test(homepage)) {
		problems.push(`homepage has to be https://host/owner/name, not "${homepage}".`);
	}
	const url = `git+${homepage}.git`;
	return repository.url === url ? problems : [...problems, `repository.url has to be "${url}".`];
}

/** What keeps a version from being published under a tag. */
export function releaseProblems(
	tag: string,
	{ version, ...identity }: Identity & { version: string },
	changelog: string,
): string[] {
	const problems = tag === `v${version}` ? [] : [`The tag is "${tag}", the version "${version}".`];
	try {
		notesOf(changelog, version);
	} catch (error) {
		problems.push(String(error));
	}
	return [...problems, ...identityProblems(identity)];
}

/**
 * The commands of the workflow that publishes, in their order. A step uses an action or is a command on
 * one line. Anything else is refused, because it would go unrehearsed.
 */
export function publishingCommands(workflow: string): string[] {
	const [, ...steps] = workflow.split(/^ +- /m);
	return steps.flatMap((step) => {
		if (step.startsWith('uses: ')) return [];
		const [, command] = /^run: (\w.*)\n*$/.exec(step) ?? [];
		if (command === undefined) throw new Error(`This step cannot be rehearsed:\n${step}`);
		return [command];
	});
}
