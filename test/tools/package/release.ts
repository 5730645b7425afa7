const UNRELEASED = '## [Unreleased]';
const NEXT_SECTION = /\n## \[/;

/** Splits a changelog into the text up to a heading, the section below the heading, and the older sections. */
function split(text: string, heading: string): [before: string, section: string, after: string] {
	const start = text.indexOf(`\n${heading}`);
	if (start < 0) throw new Error(`CHANGELOG.md has no section "${heading}".`);
	const end = text.indexOf('\n', start + 1);
	const behind = end < 0 ? text.length : end;
	const rest = text.slice(behind);
	const next = NEXT_SECTION.exec(rest)?.index ?? rest.length;
	return [text.slice(0, behind), rest.slice(0, next).trim(), rest.slice(next).trim()];
}

/** Whether a section has only headings. */
const isEmpty = (section: string): boolean => !/^(?!#)./m.test(section);

/** @throws Error if the changelog says nothing about the version */
export function notesOf(text: string, version: string): string {
	const [, notes] = split(text, `## [${version}]`);
	if (isEmpty(notes)) throw new Error(`CHANGELOG.md says nothing of ${version}.`);
	return notes;
}

/** Moves the unreleased changes to a version, and leaves an empty section for later changes. */
export function release(text: string, version: string, day: string): string {
	const [before, notes, after] = split(text, UNRELEASED);
	if (isEmpty(notes)) throw new Error('CHANGELOG.md lists nothing under "Unreleased".');
	const sections = [before, `## [${version}] - ${day}`, notes, ...(after === '' ? [] : [after])];
	return `${sections.join('\n\n')}\n`;
}

/** The publisher of the package, as package.json names it. */
export interface Identity {
	homepage: string;
	author: { name: string; email: string };
	repository: { url: string };
}

/** The values in package.json until the project has a public home. */
const STAND_IN = /[/@]example\.com(\/|$)|^Example /;
const HOMEPAGE = /^https:\/\/[\w.-]+(\/[\w.-]+){2}(?<!\.git)$/;

export const isPlaceholder = (value: string): boolean => STAND_IN.test(value);

/** One sentence for each wrong field of package.json. */
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

/** The reasons why a version cannot be published under a tag. */
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
 * The commands of the publishing workflow, in order. A step must use an action or be a command on one line, because
 * the rehearsal would skip other steps.
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
