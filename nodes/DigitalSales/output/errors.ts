import { compact, trimEnd } from 'lodash';
import type { INode } from 'n8n-workflow';
import { NodeApiError, NodeError, NodeOperationError } from 'n8n-workflow';
import {
	type Answer,
	type ErrorFacts,
	type Outcome,
	ServiceError,
	type ServiceWords,
} from '../api';
import { quoteText, RUN_AGAIN } from '../domain';
import { CanceledError } from '../shared';

/** The node refuses an item without sending it now. */
export class NotSentError extends Error implements ErrorFacts {
	/**
	 * @param outcome `unknown` if an earlier attempt may have succeeded
	 * @param answer of the read that led to the refusal
	 */
	constructor(
		message: string,
		readonly advice: string,
		readonly outcome: Outcome = 'notSent',
		readonly answer?: Answer,
	) {
		super(message);
		this.name = 'NotSentError';
	}
}

/** How to run a failed item again without creating another one twice. */
export interface RerunAdvice {
	/** Replaces `RUN_AGAIN` in what an error says to do. */
	again: string;
	/** Whether an earlier attempt of this execution may have created the item. */
	mayExist: boolean;
	/** Sentences that follow, for example what the run has created. */
	notes: string[];
}

/** What is known about a failed item. Each field may be missing. */
export interface ErrorContext {
	itemIndex?: number;
	/** Whether the request may have left, by default false. */
	isSending?: boolean;
	/** The display name for a dotted field of the platform. */
	labelOf?: (serviceField: string) => string | undefined;
	/** What was asked for. */
	about?: string;
	/** Of a creation. */
	rerun?: RerunAdvice;
}

const LONGEST_MESSAGE = 500;
const NO_WORDS: ServiceWords = { messages: [], fields: {} };

/** @returns the error for n8n, and what it says for a workflow that goes on after it */
export function toFailure(node: INode, error: unknown, context: ErrorContext = {}) {
	const { about = null, itemIndex, rerun } = context;
	const facts = factsOf(error, context.isSending === true);
	const { status = null, words = NO_WORDS } = facts.answer ?? {};
	const serviceError = error instanceof ServiceError ? error : undefined;

	const text = error instanceof Error ? error.message : 'An unexpected error occurred';
	const message = quoteText(text, LONGEST_MESSAGE);

	const isUnsent = facts.outcome === 'notSent';
	const mayExist = isUnsent && rerun?.mayExist === true;
	const unsentNote = mayExist
		? 'This item was not sent now, but an earlier attempt of this execution may have succeeded.'
		: 'This item was not sent.';
	const advice = joinLines(
		isUnsent && rerun && unsentNote,
		facts.advice?.replaceAll(RUN_AGAIN, rerun?.again ?? RUN_AGAIN),
	);

	const description = joinLines(
		serviceWordsLine(words, context.labelOf),
		serviceError?.isInDoubt && about !== null && `Details: ${about}.`,
		advice,
		serviceError && requestLine(serviceError),
		...(rerun?.notes ?? []),
	);

	const outcome = mayExist ? 'unknown' : facts.outcome;
	const json = { message, advice: advice || null, status, outcome, ...words, about };
	const texts = { message, description, itemIndex };
	if (!serviceError) return { error: new NodeOperationError(node, message, texts), json };

	const httpCode = status?.toString();
	return { error: new NodeApiError(node, { message }, { ...texts, httpCode }), json };
}

function joinLines(...lines: Array<string | false | null | undefined>): string {
	return compact(lines).join('\n');
}

function factsOf(error: unknown, isSending: boolean): ErrorFacts {
	if (error instanceof ServiceError || error instanceof NotSentError) return error;
	if (error instanceof NodeError) {
		return { advice: error.description ?? undefined, outcome: 'notSent' };
	}
	if (error instanceof CanceledError || !isSending) return { outcome: 'notSent' };
	return { outcome: 'unknown' };
}

/** Without line breaks, because a list of items shows one line. */
function serviceWordsLine(words: ServiceWords, labelOf: ErrorContext['labelOf']): string {
	const fields = Object.entries(words.fields).map(([field, texts]) => {
		const label = labelOf?.(field);
		const name = label === undefined ? field : `${label} (${field})`;
		return `${name}: ${texts.join(', ')}`;
	});
	const text = [...words.messages, ...fields].join(' | ');

	return text && `The platform said: ${trimEnd(text, '.')}.`;
}

function requestLine({ endpoint, tries, answer }: ServiceError): string {
	const tried = tries > 1 && `tried ${tries} times`;
	return `Request: ${compact([endpoint, tried, answer.code]).join(', ')}.`;
}
