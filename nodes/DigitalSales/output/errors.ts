import { compact } from 'lodash';
import type { INode } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import { type Facts, ServiceError, type ServiceWords, type ShownOutcome } from '../api';
import { quoteText, RUN_AGAIN } from '../domain';
import { CanceledError } from '../shared';
import { adviceFor, type Situation, unsentNote } from './advice';

/** The node refuses an item without sending it now. An earlier attempt may exist, so the outcome may be `unknown`. */
export class NotSentError extends Error {
	readonly facts: Facts;

	constructor(message: string, advice: string, facts: Partial<Facts> = {}) {
		super(message);
		this.name = 'NotSentError';
		this.facts = { advice, shown: 'notSent', ...facts };
	}
}

export interface ErrorContext {
	itemIndex?: number;
	isSending?: boolean;
	/** The display name for a dotted field of the platform. */
	labelOf?: (serviceField: string) => string | undefined;
	about?: string;
	situation?: Situation;
}

const LONGEST_MESSAGE = 500;

export type NodeError = NodeApiError | NodeOperationError;

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
	const { about = null, isSending = false, itemIndex, situation } = context;
	const text = error instanceof Error ? error.message : 'An unexpected error occurred';
	const message = quoteText(text, LONGEST_MESSAGE);
	const { answer, ...facts } = factsOf(error, isSending);
	const { status = null, words = { messages: [], fields: {} } } = answer ?? {};
	const { warning, again } = adviceFor(situation);
	const said = serviceWordsLine(words, context.labelOf);
	const serviceError = error instanceof ServiceError ? error : undefined;

	const isUnsent = facts.shown === 'notSent';
	const hasUnsentNote = isUnsent && !(error instanceof CanceledError);
	// The platform has said what to correct. About a wrong path it only says that the method is not allowed.
	const isExplained =
		serviceError?.outcome.kind === 'rejected' &&
		status !== 405 &&
		said !== '' &&
		again === RUN_AGAIN;
	const advice = joinLines(
		hasUnsentNote && situation && unsentNote(situation),
		facts.advice?.replaceAll(RUN_AGAIN, again),
	);

	const description = joinLines(
		said,
		serviceError?.isInDoubt && about !== null && `Details: ${about}.`,
		!isExplained && advice,
		warning,
		!isExplained && serviceError && requestLine(serviceError),
		// Last, because there may be hundreds.
		...createdNotes(situation),
	);
	const outcome = isUnsent && situation?.mayExist ? 'unknown' : facts.shown;
	return {
		error: toNodeError(node, error, { message, description, itemIndex }),
		json: { message, advice: advice || null, status, outcome, ...words, about },
	};
}

function joinLines(...lines: Array<string | false | null | undefined>): string {
	return compact(lines).join('\n');
}

function factsOf(error: unknown, isSending: boolean): Facts {
	if (error instanceof ServiceError || error instanceof NotSentError) return error.facts;
	if (error instanceof NodeApiError || error instanceof NodeOperationError) {
		return { advice: error.description || undefined, shown: 'notSent' };
	}
	return { shown: error instanceof CanceledError || !isSending ? 'notSent' : 'unknown' };
}

function toNodeError(
	node: INode,
	error: unknown,
	texts: { message: string; description: string; itemIndex?: number },
): NodeError {
	if (error instanceof NodeApiError || error instanceof NodeOperationError) {
		return Object.assign(error, { message: texts.message, description: texts.description });
	}
	if (!(error instanceof ServiceError)) return new NodeOperationError(node, texts.message, texts);
	const httpCode = error.outcome.status?.toString();
	return new NodeApiError(node, { message: texts.message }, { ...texts, httpCode });
}

/** Without line breaks, because a list of items shows one line. */
function serviceWordsLine(words: ServiceWords, labelOf: ErrorContext['labelOf']): string {
	const fields = Object.entries(words.fields).map(([field, texts]) => {
		const label = labelOf?.(field);
		return `${label === undefined ? field : `${label} (${field})`}: ${texts.join(', ')}`;
	});
	const text = [...words.messages, ...fields].join(' | ');
	return text && `The platform said: ${text}${/[.!?]$/.test(text) ? '' : '.'}`;
}

function requestLine({ endpoint, tries, outcome: { code } }: ServiceError): string {
	return `Request: ${endpoint}${tries > 1 ? `, tried ${tries} times` : ''}${code ? `, ${code}` : ''}.`;
}

export function createdNotes({
	created = [],
	inDoubt = [],
}: Pick<Situation, 'created' | 'inDoubt'> = {}): string[] {
	return compact([
		inDoubt.length > 0 && `These got no usable answer, so they may exist: ${inDoubt.join('; ')}.`,
		created.length > 0 && `Already created in this execution: ${created.join('; ')}.`,
	]);
}
