import type { FailedOutcome, ServiceError } from './outcome';
import { MOST_BODY_BYTES } from './response';

/** What happened, and what to do about it. */
interface Wording {
	message: string;
	advice?: string;
}

/** What options of a form can do about a failure, in whole sentences. */
export interface FormAdvice {
	rateLimited?: string;
	tooLarge?: string;
}

interface WordingContext {
	/** What was being asked for. */
	about?: string;
	/** What this execution has created, if it creates anything. */
	created?: string[];
	/** What else it may have created. */
	inDoubt?: string[];
	advice?: FormAdvice;
}

/** Says what happened and what to do about a failed request. */
export function wording(error: ServiceError, context: WordingContext): Wording {
	const { outcome } = error;
	if (error.isInDoubt) return inDoubt(error, context.about);
	if (isRedirect(outcome)) return redirected(outcome);
	switch (outcome.kind) {
		case 'rateLimited':
			return {
				message: 'The service is still limiting requests (429)',
				advice:
					context.advice?.rateLimited ??
					'Try again later, or run fewer workflows of this account at the same time.',
			};
		case 'unavailable':
		case 'serverError':
			return {
				message: `The service returned an error (${outcome.status})`,
				advice: 'The problem is on the side of the service. Try again later.',
			};
		case 'unreadable':
			return unreadable(outcome, context);
		case 'notSent':
			return {
				message: 'The service could not be reached',
				advice:
					'Nothing was sent. Check the host in Base URL of the credential, and that this n8n can reach it, through its proxy if it has one.',
			};
		case 'blocked':
			return {
				message: 'n8n blocked the request to the host of the service',
				advice:
					'Nothing was sent. Base URL of the credential points to a host that the SSRF protection of this n8n blocks, such as a private address. Correct it, or ask the administrator of this n8n to allow the host (N8N_SSRF_ALLOWED_HOSTNAMES).',
			};
		case 'interrupted':
			return {
				message: 'The service did not answer in time, or the connection broke',
				advice: 'Try again later.',
			};
		default:
			return rejected(outcome, context);
	}
}

/** Whether the service redirected the request, which may make the outcome `unclear`. */
export function isRedirect({ status = 0 }: FailedOutcome): boolean {
	return status >= 300 && status < 400;
}

function redirected({ status, redirectedTo }: FailedOutcome): Required<Wording> {
	return {
		message: `The service answered with a redirect (${status})`,
		advice: `Redirects are not followed, since they could take the token elsewhere. Set Base URL in the credential to the final address${redirectedTo ? ` (it pointed to ${redirectedTo})` : ''}.`,
	};
}

function isNothingCreated({ created, inDoubt }: WordingContext): boolean {
	return created?.length === 0 && inDoubt?.length === 0;
}

function rejected({ status }: FailedOutcome, context: WordingContext): Wording {
	switch (status) {
		case 401:
			return {
				message: 'The service did not accept the API token (401)',
				advice:
					'Check API Token in the credential: copy it again from the service, without spaces.',
			};
		case 403:
			return {
				message: 'The API token has no permission for this (403)',
				advice:
					'Use a token of an account that may do this, or ask the service for the permission.',
			};
		case 404:
			return {
				message: 'The service found nothing at this address (404)',
				advice:
					'Check the hash. If every operation fails like this, check the path in Base URL of the credential: it ends with the version, for example /api/public/v1.',
			};
		case 400:
		case 422:
			return {
				message: `The service did not accept the request (${status})`,
				advice: `Correct what the service rejected, then run this again.${isNothingCreated(context) ? ' Nothing was created.' : ''}`,
			};
		default:
			return status !== undefined && status < 300
				? { message: 'The service reported a failure' }
				: { message: `The service did not accept the request (${status})` };
	}
}

function unreadable({ unreadable: reason }: FailedOutcome, { advice }: WordingContext): Wording {
	if (reason === 'html') {
		return {
			message: 'The service answered with a web page instead of data',
			advice:
				'Base URL in the credential most likely lacks part of its path, for example /api/public/v1.',
		};
	}
	if (reason === 'tooLarge') {
		return {
			message: 'The answer of the service is too large to read',
			advice: `More than ${MOST_BODY_BYTES / 1_048_576} MB arrived. Check Base URL in the credential.${advice?.tooLarge === undefined ? '' : ` ${advice.tooLarge}`}`,
		};
	}
	return {
		message:
			reason === 'otherShape'
				? 'The service answered in an undocumented format'
				: 'The answer of the service could not be read',
		advice:
			'Check Base URL in the credential. If it is right, the service may have cut the answer short: try again.',
	};
}

function inDoubt({ endpoint, outcome }: ServiceError, about: string | undefined): Wording {
	const { status } = outcome;
	const happened = isRedirect(outcome)
		? `the answer was a redirect (${status})`
		: status === undefined
			? 'no answer came'
			: `the answer was not usable (${status})`;
	const wasAbout = about === undefined ? '' : `Details: ${about}. `;
	const [message, check] =
		endpoint === 'POST /transactions'
			? [
					'The charge may exist',
					"The customer may already have been charged. Check the service's dashboard. If you run this again, the node refuses the charge and shows a code that allows it once.",
				]
			: [
					'The offer may exist',
					"The offer may already exist. Check the service's dashboard. If you run this again, the node refuses the offer and shows a code that allows it once.",
				];
	const redirect = isRedirect(outcome) ? `\n${redirected(outcome).advice}` : '';
	return {
		message: `${message}: ${happened}`,
		advice: wasAbout + check + redirect,
	};
}
