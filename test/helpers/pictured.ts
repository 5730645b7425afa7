import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pick } from 'lodash';
import type { INodeProperties } from 'n8n-workflow';
import { DigitalSalesApi } from '../../credentials/DigitalSalesApi.credentials';
import { recipeOf } from '../../examples/source';
import { type Language, render } from '../../examples/source/workflow';
import { DigitalSales } from '../../nodes/DigitalSales/DigitalSales.node';
import { DigitalSalesTrigger } from '../../nodes/DigitalSales/DigitalSalesTrigger.node';

export const PICTURES = path.join(__dirname, '..', '..', 'docs', 'pictures');
/** By picture, the digest of the forms or the recipe that it showed when it was made. */
const LIST = path.join(PICTURES, 'shown.json');

const credential = new DigitalSalesApi().properties;
const trigger = new DigitalSalesTrigger().description;
const actions = new DigitalSales().description.properties;

function formOf(resource: string, operation: string): INodeProperties[] {
	return actions.filter(
		({ displayOptions: { show } = {} }) =>
			show?.resource?.includes(resource) && show.operation?.includes(operation),
	);
}
const createPix = formOf('transaction', 'create');

/** The parts of the nodes that each picture of the documentation shows. */
const SHOWN: Record<string, unknown> = {
	'credential-fails.png': credential,
	'pick-a-product.png': formOf('offer', 'create'),
	'create-pix.png': createPix,
	'trigger-listens.png': [trigger.properties, trigger.triggerPanel],
	'execution.png': trigger.properties,
};

/** The digest that a picture would have today. A picture shows no tooltips and no menus, and of a recipe's nodes only names and notes. */
export function digestOf(picture: string): string {
	const [, language, name] = /^examples\/([^/]+)\/(.+)\.png$/.exec(picture) ?? [];
	const shown = name
		? render(recipeOf(name), name, language as Language)
		: (SHOWN[picture] ?? `nobody says what ${picture} shows`);
	const text = JSON.stringify(shown, function (this: { type?: unknown }, key, value: unknown) {
		const isMenu = key === 'options' && this.type === 'collection';
		if (key === 'parameters')
			return pick(value, ['resource', 'operation', 'content', 'width', 'height']);
		return key === 'description' || key === 'action' || isMenu ? undefined : value;
	});
	return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

export function shownWhenMade(): Record<string, string> {
	return JSON.parse(readFileSync(LIST, 'utf8')) as Record<string, string>;
}

/** For a picture that was just made. */
export function noteMade(picture: string): void {
	const made = { ...shownWhenMade(), [picture]: digestOf(picture) };
	const sorted = Object.entries(made).sort(([a], [b]) => a.localeCompare(b));
	writeFileSync(LIST, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
}
