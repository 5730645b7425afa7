import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	INodeCredentialTestResult,
} from 'n8n-workflow';
import { z } from 'zod/v3';
import { readFault, responseHead } from '../n8n';
import { type Account, CredentialError, readAccount } from './account';
import { parseResponse } from './response';
import { parseProductPage } from './schemas/product';
import { type Answer, ServiceError } from './serviceError';

const TIMEOUT_MS = 20_000;

const NO_API =
	'The host answers, but there is no API under this path. Check the path in Base URL: it ends with the version, for example /api/public/v1.';

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
		const { body, ...answer } = await requestProducts(this, readAccount(data ?? {}));
		const isList = answer.kind === 'success' && parseProductPage(body) !== undefined;
		if (isList) return { status: 'OK', message: 'The platform accepts the token.' };
		return { status: 'Error', message: describeProblem(answer) };
	} catch (error) {
		if (error instanceof CredentialError) return { status: 'Error', message: error.message };
		return { status: 'Error', message: describeProblem(readFault(error)) };
	}
}

async function requestProducts(
	{ helpers }: ICredentialTestFunctions,
	{ baseUrl, apiToken, redact }: Account,
) {
	// A credential test has no other helper.
	const response: unknown = await helpers.request({
		method: 'GET',
		uri: `${baseUrl}/products`,
		headers: { Accept: 'application/json', Authorization: `Bearer ${apiToken}` },
		resolveWithFullResponse: true,
		simple: false,
		followRedirect: false,
		timeout: TIMEOUT_MS,
	});

	const { statusCode, headers, body } = wholeResponse.parse(response);
	return parseResponse({ status: statusCode, headers, text: body }, redact);
}

function describeProblem(answer: Answer): string {
	const isElsewhere = ['success', 'notFound', 'webPage'].includes(answer.kind);
	if (isElsewhere || answer.status === 405) return NO_API;

	const { message, advice } = new ServiceError('GET /products', answer, 1);
	return `${message}. ${advice}`;
}
