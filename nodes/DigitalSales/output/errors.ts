import type { INode } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import { shownOutcome, ServiceError, type FailedOutcome, type ShownOutcome } from '../api/outcome';
import { isRedirect, wording, type FormAdvice } from '../api/wording';
import { CanceledError } from '../shared/clock';

/** What the node itself refuses to do, before anything is sent. */
export class Refusal extends Error {
	constructor(
		message: string,
		readonly facts: {
			/** What to do now, in whole sentences. */
			advice: string;
			/** Unknown if an earlier attempt may have done it. */
			outcome: ShownOutcome;
			/** The failed read that was to decide it. */
			read?: FailedOutcome;
		},
	) {
		super(message);
		this.name = 'Refusal';
	}
}

/** What the caller knows about the failure. */
export interface ErrorContext {
	itemIndex?: number;
	/** Whether something may have been sent before it was thrown. */
	isSent: boolean;
	/** The display name of the parameter behind a dotted field of the service, if there is one. */
	labelOf?: (serviceField: string) => string | undefined;
	/** In words that help to look it up: cart, amount, customer. */
	about?: string;
	/** What this execution has created, if it creates anything: "item 1 is abc123". */
	created?: string[];
	/** What else it may have created: "item 2". */
	inDoubt?: string[];
	advice?: FormAdvice;
}

export type NodeError = NodeApiError | NodeOperationError;

/** What a failed item says under On Error: Continue. */
export interface ErrorFacts {
	message: string;
	/** What to do now, in whole sentences. */
	advice: string | null;
	/** The HTTP status of the service's answer; null without one. */
	status: number | null;
	outcome: ShownOutcome;
	/** The service's own texts. */
	messages: string[];
	/** The service's texts by its own dotted field names. */
	fields: Record<string, string[]>;
	about: string | null;
}

/** A failure as n8n shows it and as an item reports it. */
export interface Failure {
	error: NodeError;
	facts: ErrorFacts;
}

/** Turns anything thrown into what a person and a workflow are told. */
export function toFailure(node: INode, error: unknown, context: ErrorContext): Failure {
	if (error instanceof ServiceError) return serviceFailure(node, error, context);
	if (error instanceof Refusal) return refusalFailure(node, error, context);
	const about = context.about ?? null;
	const own = { status: null, messages: [], fields: {}, about };
	if (error instanceof NodeApiError || error instanceof NodeOperationError) {
		const { message } = error;
		const advice = error.description || null;
		error.description = joined([againNote(context), advice, createdNote(context)]);
		return { error, facts: { message, advice, outcome: 'notSent', ...own } };
	}
	const message = error instanceof Error ? error.message : 'An unexpected error occurred';
	const outcome = error instanceof CanceledError || !context.isSent ? 'notSent' : 'unknown';
	const description = joined([againNote(context), createdNote(context)]);
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
	const { advice, outcome, read } = error.facts;
	return {
		error: new NodeOperationError(node, message, {
			itemIndex: context.itemIndex,
			description: joined([againNote(context), advice, createdNote(context)]),
		}),
		facts: {
			message,
			advice,
			outcome,
			status: read?.status ?? null,
			messages: read?.words.messages ?? [],
			fields: read?.words.fields ?? {},
			about: context.about ?? null,
		},
	};
}

function serviceFailure(node: INode, error: ServiceError, context: ErrorContext): Failure {
	const { endpoint, outcome, tries } = error;
	const { status, words } = outcome;
	const { message, advice } = wording(error, context);
	const said = serviceWords(words, context.labelOf);
	const description = joined([
		// A list shows the lines of a description as one.
		said === '' ? undefined : `The service said: ${said}${/[.!?]$/.test(said) ? '' : '.'}`,
		againNote(context),
		advice,
		`Request: ${endpoint}${tries > 1 ? `, tried ${tries} times` : ''}${outcome.code ? `, ${outcome.code}` : ''}.`,
		// Last, because there may be hundreds.
		createdNote(context),
	]);
	return {
		error: new NodeApiError(
			node,
			{ message },
			{
				message,
				description,
				itemIndex: context.itemIndex,
				httpCode: status?.toString(),
				failure: failureOf(error),
			},
		),
		facts: {
			message,
			advice: advice ?? null,
			status: status ?? null,
			outcome: shownOutcome(outcome.kind),
			messages: words.messages,
			fields: words.fields,
			about: context.about ?? null,
		},
	};
}

/**
 * Why it failed, in n8n's own terms. A request in doubt has none, because trying again must not seem
 * to fix it.
 */
function failureOf({ outcome, isInDoubt }: ServiceError): NodeApiError['failure'] {
	if (isInDoubt) return undefined;
	if (outcome.kind === 'rateLimited') return { cause: 'rate-limited' };
	if (outcome.kind === 'unavailable') return { cause: 'temporarily-unavailable' };
	if (outcome.status === 401) return { cause: 'credential-invalid' };
	const isWrongAddress =
		outcome.unreadable === 'html' || isRedirect(outcome) || outcome.status === 404;
	return isWrongAddress ? { cause: 'configuration-invalid' } : undefined;
}

/** Before any advice to run something again. */
function againNote({ created = [] }: ErrorContext): string | undefined {
	return created.length === 0
		? undefined
		: 'Some items succeeded, and a new execution may create them again: use Retry under Executions, or leave them out.';
}

function createdNote({ created = [], inDoubt = [] }: ErrorContext): string | undefined {
	const notes = [
		...(inDoubt.length > 0
			? [`No usable answer came for these, so they may exist: ${inDoubt.join('; ')}.`]
			: []),
		...(created.length > 0 ? [`Already created in this execution: ${created.join('; ')}.`] : []),
	];
	return joined(notes) || undefined;
}

function serviceWords(words: FailedOutcome['words'], labelOf: ErrorContext['labelOf']): string {
	const fields = Object.entries(words.fields).map(([field, texts]) => {
		const label = labelOf?.(field);
		return `${label === undefined ? field : `${label} (${field})`}: ${texts.join(', ')}`;
	});
	return [...words.messages, ...fields].join(' | ');
}
