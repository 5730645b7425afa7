import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { INodeProperties } from 'n8n-workflow';
import { DigitalSalesApi } from '../../credentials/DigitalSalesApi.credentials';
import { recipeOf } from '../../examples/source';
import { type Language, render } from '../../examples/source/workflow';
import { DigitalSales } from '../../nodes/DigitalSales/DigitalSales.node';
import { DigitalSalesTrigger } from '../../nodes/DigitalSales/DigitalSalesTrigger.node';

export const PICTURES = path.join(__dirname, '..', '..', 'docs', 'pictures');
/** By picture, the digest of what it showed when it was made. */
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

/** What each picture of the documentation shows of the nodes. */
const SHOWN: Record<string, unknown> = {
	'credential-fails.png': credential,
	'pick-a-product.png': formOf('offer', 'create'),
	'create-pix.png': createPix,
	'trigger-listens.png': [trigger.properties, trigger.triggerPanel],
	'execution.png': trigger.properties,
	'first-charge.gif': [credential, createPix, formOf('transaction', 'waitForPayment')],
};

/** A digest of what a picture shows today, by its path in docs/pictures. Tooltips and menus are not seen. */
export function digestOf(picture: string): string {
	const [, language, name] = /^examples\/([^/]+)\/(.+)\.png$/.exec(picture) ?? [];
	const shown = name
		? render(recipeOf(name), name, language as Language)
		: (SHOWN[picture] ?? `nobody says what ${picture} shows`);
	const text = JSON.stringify(shown, function (this: { type?: unknown }, key, value: unknown) {
		const isMenu = key === 'options' && this.type === 'collection';
		return key === 'description' || key === 'action' || isMenu ? undefined : value;
	});
	return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** What the pictures showed when they were made. */
export function shownWhenMade(): Record<string, string> {
	return JSON.parse(readFileSync(LIST, 'utf8')) as Record<string, string>;
}

/** Notes what a picture shows that has just been made. */
export function noteMade(picture: string): void {
	const made = { ...shownWhenMade(), [picture]: digestOf(picture) };
	const sorted = Object.entries(made).sort(([a], [b]) => a.localeCompare(b));
	writeFileSync(LIST, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
}
