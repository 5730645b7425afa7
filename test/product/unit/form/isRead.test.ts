import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { findOperation } from '../../../../nodes/DigitalSales/actions/registry';
import { everyOperation } from '../../../support/operations';
import { everyProperty } from '../../engine/support/form';
import { FORMS } from './forms';

const ROOT = path.join(__dirname, '../../../..');

function sources(folder: string): string[] {
	return readdirSync(path.join(ROOT, folder), { withFileTypes: true, recursive: true })
		.filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
		.map((entry) => path.join(entry.parentPath, entry.name));
}

/** The names that the code uses: a form declares its fields as texts, which do not count. */
function identifiers(file: string): string[] {
	const found: string[] = [];
	const visit = (node: ts.Node): void => {
		if (ts.isIdentifier(node)) found.push(node.text);
		ts.forEachChild(node, visit);
	};
	visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest));
	return found;
}

/** The fields that have a name in the body of a request: they are written there by it. */
const sent = everyOperation().flatMap(({ resource, value }) =>
	Object.values(findOperation(resource, value)?.form.serviceFields ?? {}).flatMap((parameter) =>
		parameter.split('.').slice(-1),
	),
);
const used = new Set([
	...[...sources('nodes'), ...sources('credentials')].flatMap(identifiers),
	...sent,
]);
const names = FORMS.flatMap(({ properties }) =>
	everyProperty(properties)
		.filter(({ property }) => property.type !== 'notice')
		.map(({ property }) => property.name),
);

test('the code knows no name that is made up', () => {
	expect(used).not.toContain('qrCodeColour');
});

test.each([...new Set(names)])('the field %s is read by the code', (name) => {
	expect(used).toContain(name);
});
