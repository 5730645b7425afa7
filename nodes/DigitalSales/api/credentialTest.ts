import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	INodeCredentialTestResult,
} from 'n8n-workflow';
import { z } from 'zod/v3';
import { CredentialError, readAccount } from './account';
import { ServiceError, unansweredOutcome } from './serviceError';
import { readFault } from '../n8n/httpHelper';
import { withPageSizeFallback } from './products';
import { readResponse } from './response';
import { responseHead } from '../n8n/httpHelper';
import { readProductPage } from './schemas/product';

const TIMEOUT_MS = 20_000;

/** What the one helper of a credential test gives. */
const wholeResponse = responseHead.extend({ body: z.string().catch('') });

/**
 * Tests a credential by reading one product. Written in code because the declarative test takes any
 * 2xx for a success, also the web page that a wrong path answers with.
 */
export async function digitalSalesApiTest(
	this: ICredentialTestFunctions,
	{ data }: ICredentialsDecrypted,
): Promise<INodeCredentialTestResult> {
	// The context of a credential test offers no other helper than this one.
	const { helpers } = this;
	try {
		const account = readAccount(data ?? {});
		const fetchPage = async (pageSize?: number): Promise<unknown> => {
			const response: unknown = await helpers.request({
				method: 'GET',
				uri: `${account.baseUrl}/products`,
				qs: { page: 1, per_page: pageSize },
				headers: {
					Accept: 'application/json',
					Authorization: `Bearer ${String(account.credential.apiToken)}`,
				},
				resolveWithFullResponse: true,
				simple: false,
				followRedirect: false,
				timeout: TIMEOUT_MS,
			});
			const { statusCode, headers, body } = wholeResponse.parse(response);
			const outcome = readResponse({ status: statusCode, headers, text: body }, account.redact);
			if (outcome.kind === 'success') return outcome.body;
			throw new ServiceError('GET /products', outcome, 1);
		};
		return readProductPage(await withPageSizeFallback(fetchPage, 1)())
			? { status: 'OK', message: 'The service accepts the token.' }
			: testFailed('The host answers, but not with a list of products. Check Base URL.');
	} catch (error) {
		if (error instanceof CredentialError) return testFailed(error.message);
		if (error instanceof ServiceError) return testFailed(describeError(error));
		const { kind, code } = readFault(error);
		return testFailed(
			describeError(new ServiceError('GET /products', unansweredOutcome(kind, code), 1)),
		);
	}
}

function describeError(error: ServiceError): string {
	const { status = 0, isWebPage, kind, code } = error.outcome;
	if (isWebPage || status === 404 || status === 405) {
		return `The host answers, but there is no API under this path (${status}${isWebPage ? ', a web page' : ''}). Check the path in Base URL: it ends with the version, for example /api/public/v1.`;
	}
	if (kind === 'rejected' || kind === 'unclear') {
		return `The service did not accept the request (${status}). Check Base URL and API Token.`;
	}
	return `${error.message}${code === undefined ? '' : ` (${code})`}. ${error.facts.advice}`;
}

function testFailed(message: string): INodeCredentialTestResult {
	return { status: 'Error', message };
}
