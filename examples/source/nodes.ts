import type { INodeParameters } from 'n8n-workflow';
import type { Node } from './workflow';

/** For a node that may run twice without harm, so that a short outage of its service stops no sale. */
export const RETRIED = { retryOnFail: true, maxTries: 5, waitBetweenTries: 5000 } as const;

/** For messages without the code: if such a message cannot be sent, the wait for the payment continues. */
export const CONTINUES = { ...RETRIED, onError: 'continueRegularOutput' } as const;

const PACKAGE = 'n8n-nodes-digital-sales';
const BASE = 'n8n-nodes-base';

/** A node of n8n's own, in the version in which the recipes are tested. */
function base(type: string, typeVersion: number) {
	return (name: string, parameters: INodeParameters = {}, more?: Node['more']): Node => ({
		name,
		type: `${BASE}.${type}`,
		typeVersion,
		parameters,
		...(more ? { more } : {}),
	});
}

/** An operation of the Digital Sales node. */
function sales(
	name: string,
	resource: string,
	operation: string,
	parameters: INodeParameters,
	more?: Node['more'],
): Node {
	return {
		name,
		type: `${PACKAGE}.digitalSales`,
		typeVersion: 1,
		parameters: { resource, operation, ...parameters },
		...(more ? { more } : {}),
	};
}

export const createPix = (name: string, parameters: INodeParameters, more?: Node['more']): Node =>
	sales(name, 'transaction', 'create', parameters, more);
export const waitForPayment = (name: string, parameters: INodeParameters): Node =>
	sales(name, 'transaction', 'waitForPayment', parameters);
export const getTransaction = (
	name: string,
	parameters: INodeParameters,
	more?: Node['more'],
): Node => sales(name, 'transaction', 'get', parameters, more);
export const getProducts = (name: string, parameters: INodeParameters): Node =>
	sales(name, 'product', 'getAll', parameters);

/** The Digital Sales node as a tool of an agent. */
export function salesTool(
	name: string,
	toolDescription: string,
	resource: string,
	operation: string,
	parameters: INodeParameters,
): Node {
	const described = { descriptionType: 'manual', toolDescription, resource, operation };
	return {
		name,
		type: `${PACKAGE}.digitalSalesTool`,
		typeVersion: 1,
		parameters: { ...described, ...parameters },
	};
}

/** The Digital Sales Trigger. */
export function salesTrigger(name: string, parameters: INodeParameters): Node {
	return {
		name,
		type: `${PACKAGE}.digitalSalesTrigger`,
		typeVersion: 2,
		parameters,
	};
}

export const manualTrigger = base('manualTrigger', 1);
export const errorTrigger = base('errorTrigger', 1);
export const httpRequest = base('httpRequest', 4.2);
export const telegram = base('telegram', 1.2);
export const sendEmail = base('emailSend', 2.1);
export const whatsApp = base('whatsApp', 1);
export const hubSpot = base('hubspot', 2.1);
export const dataTable = base('dataTable', 1);
export const stopAndError = base('stopAndError', 1);

/** Edit Fields: adds text fields to an item and keeps the rest, the picture included. */
export function editFields(name: string, fields: Record<string, string>): Node {
	return base('set', 3.4)(name, {
		assignments: {
			assignments: Object.entries(fields).map(([field, value]) => ({
				id: field,
				name: field,
				value,
				type: 'string',
			})),
		},
		includeOtherFields: true,
		options: {},
	});
}

const conditionOptions = {
	caseSensitive: true,
	leftValue: '',
	typeValidation: 'strict',
	version: 2,
};

/** Something that an expression says is true. */
function isTrue(expression: string): INodeParameters {
	return {
		options: conditionOptions,
		conditions: [
			{
				id: 'true',
				leftValue: `={{ ${expression} }}`,
				rightValue: '',
				operator: { type: 'boolean', operation: 'true', singleValue: true },
			},
		],
		combinator: 'and',
	};
}

/** An If: the first output where the expression is true, the second where it is not. */
export const when = (name: string, expression: string): Node =>
	base('if', 2.2)(name, { conditions: isTrue(expression), options: {} });

/** A Filter: passes on the items for which the expression is true. */
export const only = (name: string, expression: string): Node =>
	base('filter', 2.2)(name, { conditions: isTrue(expression), options: {} });

/** Pauses the execution. */
export const waitMinutes = (name: string, amount: string): Node =>
	base('wait', 1.1)(name, { amount, unit: 'minutes' });

/** A Switch: one named output for each expression. */
export const branches = (name: string, outputs: Record<string, string>): Node =>
	base('switch', 3.2)(name, {
		rules: {
			values: Object.entries(outputs).map(([outputKey, expression]) => ({
				conditions: isTrue(expression),
				renameOutput: true,
				outputKey,
			})),
		},
		options: {},
	});

export interface FormField {
	name: string;
	label: string;
	type?: 'text' | 'email';
	placeholder: string;
}

/** The texts of a form around its fields. n8n's own button is in English. */
export interface FormTexts {
	title: string;
	description: string;
	button: string;
}

/** A form of n8n that anyone with its address can fill in; an `endPage` follows. */
export function form(name: string, path: string, texts: FormTexts, fields: FormField[]): Node {
	const node = base('formTrigger', 2.5)(name, {
		formTitle: texts.title,
		formDescription: texts.description,
		formFields: {
			values: fields.map(({ name: fieldName, label, type = 'text', placeholder }) => ({
				fieldLabel: label,
				fieldName,
				fieldType: type,
				placeholder,
				requiredField: true,
			})),
		},
		options: {
			appendAttribution: false,
			buttonLabel: texts.button,
			// Known to the page that leads back to it.
			path,
		},
	});
	return { ...node, listens: true };
}

/**
 * The last page of a form, in HTML. The execution goes on as soon as the page is open, or after a minute if nobody
 * opens it.
 */
export const endPage = (name: string, responseText: string): Node =>
	base('form', 2.5)(name, {
		operation: 'completion',
		respondWith: 'showText',
		responseText: `=${responseText}`,
		limitWaitTime: true,
		limitType: 'afterTimeInterval',
		resumeAmount: 1,
		resumeUnit: 'minutes',
	});

/** A sheet of a spreadsheet, by the link that a person pastes and the name at its bottom edge. */
export interface Sheet {
	link: string;
	tab: string;
}

const googleSheets = base('googleSheets', 4.5);

function inSheet({ link, tab }: Sheet, operation: string): INodeParameters {
	return {
		operation,
		documentId: { __rl: true, mode: 'url', value: link },
		sheetName: { __rl: true, mode: 'name', value: tab },
	};
}

/** Reads the rows. An empty sheet gives one empty item, so that a later node can report it. */
export const readRows = (name: string, sheet: Sheet): Node =>
	googleSheets(name, { ...inSheet(sheet, 'read'), options: {} }, { alwaysOutputData: true });

/**
 * Writes one row an item: over the row with the same `match`, or a new one at the end. Google Sheets
 * keeps each value as it is: typed in, a name could be a formula, and a hash such as 1234e5 a number.
 */
export function writeRow(
	name: string,
	sheet: Sheet,
	operation: 'appendOrUpdate' | 'update',
	match: string,
	value: Record<string, string>,
): Node {
	const parameters = {
		...inSheet(sheet, operation),
		columns: {
			mappingMode: 'defineBelow',
			value,
			matchingColumns: [match],
			schema: Object.keys(value).map((id) => ({
				id,
				displayName: id,
				required: false,
				defaultMatch: false,
				display: true,
				type: 'string',
				canBeUsedToMatch: true,
			})),
			attemptToConvertTypes: false,
			convertFieldsToString: false,
		},
		options: {
			// What a customer typed never becomes a formula, nor a code a number.
			cellFormat: 'RAW',
			// Without it n8n counts the rows and writes into the next row, and two sales at once overwrite each other.
			...(operation === 'appendOrUpdate' ? { useAppend: true } : {}),
		},
	};
	return googleSheets(name, parameters, RETRIED);
}

/** A node for an agent: the agent itself, its model or its memory. */
function langChain(
	type: string,
	typeVersion: number,
	name: string,
	parameters: INodeParameters,
): Node {
	return { name, type: `@n8n/n8n-nodes-langchain.${type}`, typeVersion, parameters };
}

/** A public chat page of n8n; `chatAnswer` answers in it. */
export const chatTrigger = (name: string): Node => ({
	...langChain('chatTrigger', 1.3, name, {
		public: true,
		options: { responseMode: 'responseNodes' },
	}),
	listens: true,
});
/** Answers in the chat, also after a wait; the trigger's own answer ends at the first wait. */
export const chatAnswer = (name: string, message: string): Node =>
	langChain('chat', 1.3, name, { operation: 'send', message, options: {} });
export const agent = (name: string, systemMessage: string): Node =>
	langChain('agent', 3, name, { options: { systemMessage } });
export const chatModel = (name: string): Node =>
	langChain('lmChatOpenAi', 1.2, name, {
		model: { __rl: true, mode: 'list', value: 'gpt-4.1-mini' },
		options: {},
	});
export const chatMemory = (name: string): Node =>
	langChain('memoryBufferWindow', 1.3, name, { contextWindowLength: 20 });

/** Asks a person by e-mail before the agent may use the tools attached to it. */
export const emailReview = base('emailSendHitlTool', 2.1);
