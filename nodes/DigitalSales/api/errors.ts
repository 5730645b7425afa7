import type { INode } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import { MOST_BODY_BYTES } from './body';
import { CanceledError } from './clock';
import { MOST_LEVELS } from './redact';
import { Refusal } from './refusal';
import { outcomeOf, type RequestOutcome } from './retryPolicy';
import { ServiceError, type ServiceErrorFacts } from './serviceError';

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

function wording(
	facts: ServiceErrorFacts,
	context: ErrorContext,
): { message: string; advice?: string } {
	if (facts.outcomeUnknown) return unknownOutcome(facts, context.about);
	if (isRedirect(facts)) return redirected(facts);
	switch (facts.situation) {
		case 'rateLimited':
			return {
				message: 'The service is still limiting requests (429)',
				advice:
					'The node waited and tried again as far as Options > Maximum Wait and Options > Maximum Tries allow. Raise them, or run fewer workflows of this account at the same time.',
			};
		case 'unavailable':
		case 'serverError':
			return {
				message: `The service failed to answer (${facts.status})`,
				advice: 'The fault is on the side of the service. Try again later.',
			};
		case 'unreadable':
			return unreadable(facts);
		case 'notSent':
			return {
				message: 'The service could not be reached',
				advice:
					'Nothing was sent. Check the host in Base URL of the credential and that this n8n can reach it.',
			};
		case 'blocked':
			return {
				message: 'n8n did not allow a request to the host of the service',
				advice:
					'Nothing was sent. Base URL of the credential points to a host that the SSRF protection of this n8n blocks, such as a private address. Correct it, or ask whoever runs this n8n to allow the host (N8N_SSRF_ALLOWED_HOSTNAMES).',
			};
		case 'interrupted':
			return {
				message: 'The service did not answer in time or broke the connection',
				advice: 'Try again later.',
			};
		default:
			return rejected(facts, context);
	}
}

function isRedirect({ status = 0 }: ServiceErrorFacts): boolean {
	return status >= 300 && status < 400;
}

function redirected({ status, redirectedTo }: ServiceErrorFacts): {
	message: string;
	advice: string;
} {
	return {
		message: `The service answered with a redirect (${status})`,
		advice: `Redirects are not followed, since they could take the token elsewhere. Set Base URL in the credential to the final address${redirectedTo ? ` (it pointed to ${redirectedTo})` : ''}.`,
	};
}

function rejected(
	facts: ServiceErrorFacts,
	{ created }: ErrorContext,
): { message: string; advice?: string } {
	switch (facts.status) {
		case 401:
			return {
				message: 'The service did not accept the API token (401)',
				advice:
					'Check API Token in the credential: copy it again from the service, without blanks.',
			};
		case 403:
			return {
				message: 'The API token has no permission for this (403)',
				advice:
					'Use a token of an account that may do this, or ask the service for the permission.',
			};
		case 404:
			return {
				message: 'The service found nothing under this address (404)',
				advice:
					'Check the hash. If every operation answers like this, check the path in Base URL of the credential: it ends with the version, for example /api/public/v1.',
			};
		case 400:
		case 422:
			return {
				message: `The service did not accept the request (${facts.status})`,
				advice: `Correct the fields named above and run again.${created?.length === 0 ? ' Nothing was created.' : ''}`,
			};
		default:
			return facts.status !== undefined && facts.status < 300
				? { message: 'The service reported a failure' }
				: { message: `The service did not accept the request (${facts.status})` };
	}
}

function unreadable(facts: ServiceErrorFacts): { message: string; advice: string } {
	if (facts.unreadable === 'html') {
		return {
			message: 'The service answered with a web page instead of data',
			advice:
				'Base URL in the credential most likely lacks part of its path, for example /api/public/v1.',
		};
	}
	if (facts.unreadable === 'tooLarge') {
		return {
			message: 'The answer of the service is too large to be read',
			advice: `More than ${MOST_BODY_BYTES / 1_048_576} MB came in. Check Base URL in the credential.${facts.endpoint === 'GET /products' ? ' If it is right, set Options > Page Size to a smaller number.' : ''}`,
		};
	}
	if (facts.unreadable === 'tooDeep') {
		return {
			message: 'The answer of the service is nested too deep to be read',
			advice: `Its data is more than ${MOST_LEVELS} levels deep. Check Base URL in the credential. If it is right, ask the service.`,
		};
	}
	return {
		message:
			facts.unreadable === 'otherShape'
				? 'The service answered with data of another shape than documented'
				: 'The answer of the service could not be read',
		advice:
			'Check Base URL in the credential. If it is right, the service may have cut the answer short: try again.',
	};
}

function unknownOutcome(
	facts: ServiceErrorFacts,
	about: string | undefined,
): { message: string; advice: string } {
	const happened = isRedirect(facts)
		? `the answer was a redirect (${facts.status})`
		: facts.status === undefined
			? 'no answer came'
			: `the answer was not usable (${facts.status})`;
	const wasAbout = about === undefined ? '' : `It was about: ${about}. `;
	const check =
		facts.endpoint === 'POST /transactions'
			? "The customer may already have been charged. Check the service's dashboard. Asked again, this node refuses the charge and shows a code that allows it once."
			: "The offer may exist. Check the service's dashboard. Asked again, this node refuses the offer and shows a code that allows it once.";
	const redirect = isRedirect(facts) ? `\n${redirected(facts).advice}` : '';
	return {
		message: `It is not known whether the service did this: ${happened}`,
		advice: wasAbout + check + redirect,
	};
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
