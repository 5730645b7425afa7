import { MOST_BODY_BYTES } from './body';
import { MOST_LEVELS } from './redact';
import type { ServiceErrorFacts } from './serviceError';

/** What happened, and what to do about it. */
interface Wording {
	message: string;
	advice?: string;
}

/** What the words depend on beside the failure itself. */
interface About {
	/** What was being asked for. */
	about?: string;
	/** What this execution has created before, where it creates anything. */
	created?: string[];
}

/** Says what happened and what to do, for each way in which a request can fail. */
export function wording(facts: ServiceErrorFacts, context: About): Wording {
	if (facts.outcomeUnknown) return unknownOutcome(facts, context.about);
	if (isRedirect(facts)) return redirected(facts);
	switch (facts.situation) {
		case 'rateLimited':
			return {
				message: 'The service is still limiting requests (429)',
				advice:
					'The node waited and tried again as long as Options > Maximum Wait and Options > Maximum Tries allow. Raise them, or run fewer workflows of this account at the same time.',
			};
		case 'unavailable':
		case 'serverError':
			return {
				message: `The service failed to answer (${facts.status})`,
				advice: 'The problem is on the side of the service. Try again later.',
			};
		case 'unreadable':
			return unreadable(facts);
		case 'notSent':
			return {
				message: 'The service could not be reached',
				advice:
					'Nothing was sent. Check the host in Base URL of the credential, and that this n8n can reach it.',
			};
		case 'blocked':
			return {
				message: 'n8n blocked the request to the host of the service',
				advice:
					'Nothing was sent. Base URL of the credential points to a host that the SSRF protection of this n8n blocks, such as a private address. Correct it, or ask the administrator of this n8n to allow the host (N8N_SSRF_ALLOWED_HOSTNAMES).',
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

/** Whether the service pointed elsewhere. */
export function isRedirect({ status = 0 }: ServiceErrorFacts): boolean {
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
	{ created }: About,
): { message: string; advice?: string } {
	switch (facts.status) {
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
			message: 'The answer of the service is too large to read',
			advice: `More than ${MOST_BODY_BYTES / 1_048_576} MB arrived. Check Base URL in the credential.${facts.endpoint === 'GET /products' ? ' If it is right, set Options > Page Size to a smaller number.' : ''}`,
		};
	}
	if (facts.unreadable === 'tooDeep') {
		return {
			message: 'The answer of the service is nested too deeply to read',
			advice: `Its data is more than ${MOST_LEVELS} levels deep. Check Base URL in the credential. If it is right, contact the service.`,
		};
	}
	return {
		message:
			facts.unreadable === 'otherShape'
				? 'The service answered in an undocumented format'
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
			? 'the service did not answer'
			: `the answer was not usable (${facts.status})`;
	const wasAbout = about === undefined ? '' : `Details: ${about}. `;
	const check =
		facts.endpoint === 'POST /transactions'
			? "The customer may already have been charged. Check the service's dashboard. If you run this again, the node refuses the charge and shows a code that allows it once."
			: "The offer may already exist. Check the service's dashboard. If you run this again, the node refuses the offer and shows a code that allows it once.";
	const redirect = isRedirect(facts) ? `\n${redirected(facts).advice}` : '';
	return {
		message: `The outcome is unknown: ${happened}`,
		advice: wasAbout + check + redirect,
	};
}
