import { compact, trimEnd } from 'lodash';
import type { INode } from 'n8n-workflow';
import { NodeApiError, NodeError, NodeOperationError } from 'n8n-workflow';
import { type Facts, ServiceError, type ServiceWords, type ShownOutcome } from '../api';
import { quoteText, RUN_AGAIN } from '../domain';
import { CanceledError } from '../shared';

/** The node refuses an item without sending it now. An earlier attempt may exist, so the outcome may be `unknown`. */
export class NotSentError extends Error {
	readonly facts: Facts;

	constructor(message: string, advice: string, facts: Partial<Facts> = {}) {
		super(message);
		this.name = 'NotSentError';
		this.facts = { advice, shown: 'notSent', ...facts };
	}
}

/** How to run a failed item again without creating another one twice. */
export interface Advice {
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
	advice?: Advice;
}

const LONGEST_MESSAGE = 500;
const NO_WORDS: ServiceWords = { messages: [], fields: {} };

interface ErrorJson extends ServiceWords {
	message: string;
	advice: string | null;
	status: number | null;
	outcome: ShownOutcome;
	about: string | null;
}

export function toFailure(
	node: INode,
	error: unknown,
	context: ErrorContext = {},
): { error: NodeError; json: ErrorJson } {
	const { about = null, itemIndex, advice: given } = context;
	const facts = factsOf(error, context.isSending === true);
	const { status = null, words = NO_WORDS } = facts.answer ?? {};
	const serviceError = error instanceof ServiceError ? error : undefined;

	const text = error instanceof Error ? error.message : 'An unexpected error occurred';
	const message = quoteText(text, LONGEST_MESSAGE);
	const isUnsent = facts.shown === 'notSent';
	const advice = joinLines(
		isUnsent && given && unsentNote(given),
		facts.advice?.replaceAll(RUN_AGAIN, given?.again ?? RUN_AGAIN),
	);
	const description = joinLines(
		serviceWordsLine(words, context.labelOf),
		serviceError?.isInDoubt && about !== null && `Details: ${about}.`,
		advice,
		serviceError && requestLine(serviceError),
		...(given?.notes ?? []),
	);

	const outcome = isUnsent && given?.mayExist ? 'unknown' : facts.shown;
	const json = { message, advice: advice || null, status, outcome, ...words, about };
	const texts = { message, description, itemIndex };
	if (!serviceError) return { error: new NodeOperationError(node, message, texts), json };

	const httpCode = status?.toString();
	return { error: new NodeApiError(node, { message }, { ...texts, httpCode }), json };
}

function joinLines(...lines: Array<string | false | null | undefined>): string {
	return compact(lines).join('\n');
}

function factsOf(error: unknown, isSending: boolean): Facts {
	if (error instanceof ServiceError || error instanceof NotSentError) return error.facts;
	if (error instanceof NodeError) {
		return { advice: error.description ?? undefined, shown: 'notSent' };
	}
	if (error instanceof CanceledError || !isSending) return { shown: 'notSent' };
	return { shown: 'unknown' };
}

function unsentNote({ mayExist }: Advice): string {
	if (!mayExist) return 'This item was not sent.';

	return 'This item was not sent now, but an earlier attempt of this execution may have succeeded.';
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

function requestLine({ endpoint, tries, outcome }: ServiceError): string {
	const tried = tries > 1 && `tried ${tries} times`;

	return `Request: ${compact([endpoint, tried, outcome.code]).join(', ')}.`;
}
