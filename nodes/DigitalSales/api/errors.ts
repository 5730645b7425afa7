import type { INode } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import { CanceledError } from '../shared/clock';
import { Refusal } from './refusal';
import { outcomeOf, type RequestOutcome } from './retryPolicy';
import { ServiceError, type ServiceErrorFacts } from './serviceError';
import { isRedirect, wording } from './wording';

/** A longer list would hide what went wrong. */
const MOST_NAMED = 100;

/** What the caller knows and the API layer does not. */
export interface ErrorContext {
	itemIndex?: number;
	/** Whether something may have been sent before it was thrown. */
	isSent: boolean;
	/** The display name of the parameter behind a dotted field of the service, where there is one. */
	labelOf?: (serviceField: string) => string | undefined;
	/** What was being asked for, in words that help to look it up: cart, amount, customer. */
	about?: string;
	/** What this execution has created before, where it creates anything: "item 1 is abc123". */
	created?: string[];
}

/** The errors that n8n shows as a node's own. */
export type NodeError = NodeApiError | NodeOperationError;

/** What a failed item says under On Error: Continue, the same in every operation. */
export interface ErrorFacts {
	message: string;
	/** What to do now, in whole sentences. */
	advice: string | null;
	/** The HTTP status of the service's answer; null without one. */
	status: number | null;
	outcome: RequestOutcome;
	/** The service's own texts. */
	messages: string[];
	/** The service's texts by its own dotted field names. */
	fields: Record<string, string[]>;
	/** What was being asked for. */
	about: string | null;
}

/** One failure, as n8n shows it and as an item tells it. */
export interface Failure {
	error: NodeError;
	facts: ErrorFacts;
}

/** Makes of whatever was thrown what a person and a workflow are told of it. */
export function toFailure(node: INode, error: unknown, context: ErrorContext): Failure {
	if (error instanceof ServiceError) return serviceFailure(node, error, context);
	if (error instanceof Refusal) return refusalFailure(node, error, context);
	const about = context.about ?? null;
	const own = { status: null, messages: [], fields: {}, about };
	if (error instanceof NodeApiError || error instanceof NodeOperationError) {
		const { message } = error;
		const advice = error.description || null;
		error.description = joined([advice, createdNote(context)]);
		return { error, facts: { message, advice, outcome: 'notSent', ...own } };
	}
	const message = error instanceof Error ? error.message : 'An unexpected error occurred';
	const outcome = error instanceof CanceledError || !context.isSent ? 'notSent' : 'unknown';
	const description = joined([createdNote(context)]);
	return {
		error: new NodeOperationError(node, message, { itemIndex: context.itemIndex, description }),
		facts: { message, advice: null, outcome, ...own },
	};
}

function joined(lines: Array<string | null | undefined>): string {
	return lines.filter(Boolean).join('\n');
}

function refusalFailure(node: INode, error: Refusal, context: ErrorContext): Failure {
	const { message } = error;
	const { advice, outcome, answer } = error.facts;
	return {
		error: new NodeOperationError(node, message, {
			itemIndex: context.itemIndex,
			description: joined([advice, createdNote(context)]),
		}),
		facts: {
			message,
			advice,
			outcome,
			status: answer?.status ?? null,
			messages: answer?.words.messages ?? [],
			fields: answer?.words.fields ?? {},
			about: context.about ?? null,
		},
	};
}

/**
 * What a user sees of a failed request: what happened, the service's own words, the fields by their
 * display names, the item, and what to do.
 */
function serviceFailure(node: INode, error: ServiceError, context: ErrorContext): Failure {
	const { facts } = error;
	const { message, advice } = wording(facts, context);
	const words = serviceWords(facts, context.labelOf);
	const description = joined([
		// A list shows the lines of a description as one.
		words === '' ? undefined : `The service said: ${words}${/[.!?]$/.test(words) ? '' : '.'}`,
		createdNote(context),
		advice,
		`Request: ${facts.endpoint}${tries(facts)}${facts.code ? `, ${facts.code}` : ''}.`,
	]);
	return {
		error: new NodeApiError(
			node,
			{ message },
			{
				message,
				description,
				itemIndex: context.itemIndex,
				httpCode: facts.status?.toString(),
				failure: failureOf(facts),
			},
		),
		facts: {
			message,
			advice: advice ?? null,
			status: facts.status ?? null,
			outcome: outcomeOf(facts.situation),
			messages: facts.words.messages,
			fields: facts.words.fields,
			about: context.about ?? null,
		},
	};
}

/**
 * Why it failed, in n8n's own terms. An unknown outcome has none: no reader shall take it for
 * something that waiting or trying again would mend.
 */
function failureOf(facts: ServiceErrorFacts): NodeApiError['failure'] {
	if (facts.outcomeUnknown) return undefined;
	if (facts.situation === 'rateLimited') return { cause: 'rate-limited' };
	if (facts.situation === 'unavailable') return { cause: 'temporarily-unavailable' };
	if (facts.status === 401) return { cause: 'credential-invalid' };
	const wrongAddress = facts.unreadable === 'html' || isRedirect(facts);
	return wrongAddress || facts.status === 404 ? { cause: 'configuration-invalid' } : undefined;
}

function createdNote({ created = [] }: ErrorContext): string | undefined {
	if (created.length === 0) return undefined;
	const more = created.length - MOST_NAMED;
	const named = created.slice(-MOST_NAMED).join('; ');
	return `Already created in this execution: ${more > 0 ? `${more} others; ` : ''}${named}.`;
}

function serviceWords(facts: ServiceErrorFacts, labelOf: ErrorContext['labelOf']): string {
	const fields = Object.entries(facts.words.fields).map(([field, texts]) => {
		const label = labelOf?.(field);
		return `${label === undefined ? field : `${label} (${field})`}: ${texts.join(', ')}`;
	});
	return [...facts.words.messages, ...fields].join(' | ');
}

function tries(facts: ServiceErrorFacts): string {
	return facts.tries > 1 ? `, tried ${facts.tries} times` : '';
}
