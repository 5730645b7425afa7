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

/** What is known about a failed item. Each field may be missing. */
export interface ErrorContext {
	itemIndex?: number;
	/** Whether the request may have left, by default false. */
	isSending?: boolean;
	/** The display name for a dotted field of the platform. */
	labelOf?: (serviceField: string) => string | undefined;
	/** What was asked for. */
	about?: string;
	situation?: Situation;
}

const LONGEST_MESSAGE = 500;
const NO_WORDS: ServiceWords = { messages: [], fields: {} };

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
	const { about = null, itemIndex, situation } = context;
	const text = error instanceof Error ? error.message : 'An unexpected error occurred';
	const message = quoteText(text, LONGEST_MESSAGE);
	const facts = factsOf(error, context.isSending === true);
	const { status = null, words = NO_WORDS } = facts.answer ?? {};
	const said = serviceWordsLine(words, context.labelOf);
	const serviceError = error instanceof ServiceError ? error : undefined;

	const { warning, again } = adviceFor(situation);
	const isUnsent = facts.shown === 'notSent';
	const hasUnsentNote = isUnsent && !(error instanceof CanceledError);
	const advice = joinLines(
		hasUnsentNote && situation && unsentNote(situation),
		facts.advice?.replaceAll(RUN_AGAIN, again),
	);
	// The platform has said what to correct. About a wrong path it only says that the method is not allowed.
	const isRejected = serviceError?.outcome.kind === 'rejected' && status !== 405;
	// Advice that the situation has changed is always shown.
	const isExplained = isRejected && said !== '' && again === RUN_AGAIN;

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
	if (error instanceof CanceledError || !isSending) return { shown: 'notSent' };
	return { shown: 'unknown' };
}

function toNodeError(
	node: INode,
	error: unknown,
	texts: { message: string; description: string; itemIndex?: number },
): NodeError {
	const { message, description } = texts;
	if (error instanceof NodeApiError || error instanceof NodeOperationError) {
		return Object.assign(error, { message, description });
	}
	if (!(error instanceof ServiceError)) return new NodeOperationError(node, message, texts);

	const httpCode = error.outcome.status?.toString();
	return new NodeApiError(node, { message }, { ...texts, httpCode });
}

/** Without line breaks, because a list of items shows one line. */
function serviceWordsLine(words: ServiceWords, labelOf: ErrorContext['labelOf']): string {
	const fields = Object.entries(words.fields).map(([field, texts]) => {
		const label = labelOf?.(field);
		const name = label === undefined ? field : `${label} (${field})`;
		return `${name}: ${texts.join(', ')}`;
	});
	const text = [...words.messages, ...fields].join(' | ');
	if (text === '') return '';

	const end = /[.!?]$/.test(text) ? '' : '.';
	return `The platform said: ${text}${end}`;
}

function requestLine({ endpoint, tries, outcome }: ServiceError): string {
	const tried = tries > 1 && `tried ${tries} times`;

	return `Request: ${compact([endpoint, tried, outcome.code]).join(', ')}.`;
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
