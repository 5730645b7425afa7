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
