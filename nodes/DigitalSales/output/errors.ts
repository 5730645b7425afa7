import compact from 'lodash/compact';
import upperFirst from 'lodash/upperFirst';
import type { INode } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type { ShownOutcome } from '../api/retryTable';
import { ServiceError, type Facts } from '../api/serviceError';
import type { ServiceWords } from '../api/schemas/error';
import { quoted, RUN_AGAIN } from '../domain/text';
import { CanceledError } from '../shared/clock';
import { adviceFor, type Situation, unsentNote } from './advice';

/** What the node itself refuses to do, before anything is sent. */
export class Refusal extends Error {
	constructor(
		message: string,
		readonly facts: Facts,
	) {
		super(message);
		this.name = 'Refusal';
	}
}

/** What the caller knows about the failure. */
export interface ErrorContext {
	itemIndex?: number;
	/** Whether something may have been sent before it was thrown. */
	isSent?: boolean;
	/** The display name of the parameter behind a dotted field of the service, if there is one. */
	labelOf?: (serviceField: string) => string | undefined;
	about?: string;
	/** Of an item of a run. */
	situation?: Situation;
}

/** The name of a field may come from a row. */
const LONGEST_MESSAGE = 500;

export type NodeError = NodeApiError | NodeOperationError;

/** What a failed item says under On Error: Continue. */
export interface ErrorFacts extends ServiceWords {
	message: string;
	advice: string | null;
	/** The HTTP status of the service's answer; null without one. */
	status: number | null;
	outcome: ShownOutcome;
	about: string | null;
}

/** A failure as n8n shows it and as an item reports it. */
export interface Failure {
	error: NodeError;
	facts: ErrorFacts;
}

/** Turns anything thrown into what a person and a workflow are told. */
export function toFailure(node: INode, error: unknown, context: ErrorContext = {}): Failure {
	const { about = null, isSent = false, situation } = context;
	const said = error instanceof Error ? error.message : 'An unexpected error occurred';
	const message = quoted(said, LONGEST_MESSAGE);
	const { answer, ...facts } = factsOf(error, isSent);
	const { warning, again } = adviceFor(situation);
	const isCanceled = error instanceof CanceledError;
	const isUnsent = facts.outcome === 'notSent';
	const advice =
		compact([
			isUnsent && !isCanceled && situation && unsentNote(situation, isSent),
			facts.advice?.replace(/run this again/gi, (said) =>
				said === RUN_AGAIN ? again : upperFirst(again),
			),
		]).join('\n') || null;
	const outcome = isUnsent && situation?.mayExist ? 'unknown' : facts.outcome;
	const { status = null, words = { messages: [], fields: {} } } = answer ?? {};
	const description = [
		wordsNote(words, context.labelOf),
		warning,
		error instanceof ServiceError && error.isInDoubt && about !== null && `Details: ${about}.`,
		advice,
		error instanceof ServiceError && requestNote(error),
		// Last, because there may be hundreds.
		...createdNotes(situation),
	]
		.filter(Boolean)
		.join('\n');
	return {
		error: shown(node, error, { message, description, itemIndex: context.itemIndex }),
		facts: { message, advice, status, outcome, ...words, about },
	};
}

function factsOf(error: unknown, isSent = false): Facts {
	if (error instanceof ServiceError || error instanceof Refusal) return error.facts;
	if (error instanceof NodeApiError || error instanceof NodeOperationError) {
		return { advice: error.description || undefined, outcome: 'notSent' };
	}
	return { outcome: error instanceof CanceledError || !isSent ? 'notSent' : 'unknown' };
}

function shown(
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

/** In one line: a list shows those of a description as one. */
function wordsNote(words: ServiceWords, labelOf: ErrorContext['labelOf']): string {
	const fields = Object.entries(words.fields).map(([field, texts]) => {
		const label = labelOf?.(field);
		return `${label === undefined ? field : `${label} (${field})`}: ${texts.join(', ')}`;
	});
	const text = [...words.messages, ...fields].join(' | ');
	return text && `The service said: ${text}${/[.!?]$/.test(text) ? '' : '.'}`;
}

function requestNote({ endpoint, tries, outcome: { code } }: ServiceError): string {
	return `Request: ${endpoint}${tries > 1 ? `, tried ${tries} times` : ''}${code ? `, ${code}` : ''}.`;
}

/** What an execution has created, and what else it may have created. */
export function createdNotes({
	created = [],
	inDoubt = [],
}: Pick<Situation, 'created' | 'inDoubt'> = {}): string[] {
	return compact([
		inDoubt.length === 0
			? ''
			: `No usable answer came for these, so they may exist: ${inDoubt.join('; ')}.`,
		created.length === 0 ? '' : `Already created in this execution: ${created.join('; ')}.`,
	]);
}
