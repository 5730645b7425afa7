import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	INodeCredentialTestResult,
} from 'n8n-workflow';
import { z } from 'zod/v3';
import { readFault, responseHead } from '../n8n';
import { type Account, CredentialError, readAccount } from './account';
import { readResponse } from './response';
import { readProductPage } from './schemas/product';
import { ServiceError } from './serviceError';

const TIMEOUT_MS = 20_000;

const wholeResponse = responseHead.extend({ body: z.string().catch('') });

/**
 * Lists products (API document, Endpoint 4: GET /products), because n8n's declarative test would accept any 2xx, such
 * as a web page.
 */
export async function digitalSalesApiTest(
	this: ICredentialTestFunctions,
	{ data }: ICredentialsDecrypted,
): Promise<INodeCredentialTestResult> {
	try {
		const products = readProductPage(await fetchProducts(this, readAccount(data ?? {})));
		if (products) return { status: 'OK', message: 'The platform accepts the token.' };
		return testFailed('The host answers, but not with a list of products. Check Base URL.');
	} catch (error) {
		if (error instanceof CredentialError) return testFailed(error.message);
		if (error instanceof ServiceError) return testFailed(describeError(error));
		return testFailed(describeError(new ServiceError('GET /products', readFault(error), 1)));
	}
}

async function fetchProducts(
	{ helpers }: ICredentialTestFunctions,
	{ baseUrl, credential, redact }: Account,
): Promise<unknown> {
	// A credential test has no other helper.
	const response: unknown = await helpers.request({
		method: 'GET',
		uri: `${baseUrl}/products`,
		headers: {
			Accept: 'application/json',
			Authorization: `Bearer ${String(credential.apiToken)}`,
		},
		resolveWithFullResponse: true,
		simple: false,
		followRedirect: false,
		timeout: TIMEOUT_MS,
	});

	const { statusCode, headers, body } = wholeResponse.parse(response);
	const outcome = readResponse({ status: statusCode, headers, text: body }, redact);

	if (outcome.kind !== 'success') throw new ServiceError('GET /products', outcome, 1);
	return outcome.body;
}

function describeError(error: ServiceError): string {
	const { status = 0, isWebPage, kind, code } = error.outcome;
	if (isWebPage) return noApi(`${status}, a web page`);
	if (status === 404 || status === 405) return noApi(`${status}`);
	if (kind === 'rejected') {
		return `The platform did not accept the request (${status}). Check Base URL and API Token.`;
	}
	return `${error.message}${code === undefined ? '' : ` (${code})`}. ${error.facts.advice}`;
}

function noApi(answered: string): string {
	return `The host answers, but there is no API under this path (${answered}). Check the path in Base URL: it ends with the version, for example /api/public/v1.`;
}

function testFailed(message: string): INodeCredentialTestResult {
	return { status: 'Error', message };
}
