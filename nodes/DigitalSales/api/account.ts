import {
	type FunctionsBase,
	type ICredentialDataDecryptedObject,
	isDomainAllowed,
	type IWebhookFunctions,
} from 'n8n-workflow';
import { z } from 'zod/v3';
import { cleanText, LONGEST_TEXT, parseBaseUrl } from '../domain';
import { BoundedMap, digest, processState, tryPatiently } from '../shared';
import { createRedactor, type Redactor } from './redact';

/* What a credential says, or what is wrong with it. */

export const CREDENTIAL_NAME = 'digitalSalesApi';

export interface Account {
	/** Ends with the version segment (API document, Versioning). */
	baseUrl: string;
	apiToken: string;
	/** For the body of POST /transactions (API document, Authentication 3). */
	bodyApiToken: string;
	notificationUrl?: string;
	/** A field of the request that also gets a charge's notification address. */
	notificationField?: string;
	allowedDomains?: string;
	/** Identifies the account without revealing its token. */
	key: string;
	redact: Redactor;
	/** As n8n takes it, with the cleaned token. */
	credential: ICredentialDataDecryptedObject;
}

export class CredentialError extends Error {}

/** People copy this word from example requests. */
const SCHEME = /^Bearer(\s+|$)/i;

const textField = z.string().max(LONGEST_TEXT).transform(cleanText).default('');
const tokenField = textField.transform((given) => given.replace(SCHEME, ''));
/** n8n's HTTP client silently drops other characters from a header. */
const HEADER_TEXT = /^[\x21-\x7e]*$/;

const credentialSchema = z.object({
	baseUrl: textField,
	apiToken: tokenField,
	notificationUrl: textField,
	/** Shows the next two fields. n8n keeps the values of hidden fields. */
	platformDiffers: z.boolean().optional(),
	bodyApiToken: tokenField,
	notificationField: textField,
	allowedHttpRequestDomains: z.string().optional(),
	allowedDomains: textField,
});

/** @throws CredentialError */
export function readAccount(credential: ICredentialDataDecryptedObject): Account {
	const parsed = credentialSchema.safeParse(credential);
	if (!parsed.success) {
		throw new CredentialError(
			'A field of the credential is not text, or is too long. Open the credential, correct it and save it again.',
		);
	}

	const { data } = parsed;
	const { apiToken, allowedDomains } = data;
	const bodyApiToken = (data.platformDiffers && data.bodyApiToken) || apiToken;
	const base = parseBaseUrl(data.baseUrl);
	const isRestricted = data.allowedHttpRequestDomains === 'domains';

	if ('problem' in base) {
		throw new CredentialError(
			`Base URL in the credential ${base.problem}. Enter the address of the platform with its path, for example https://api.example.com/api/public/v1.`,
		);
	}

	if (apiToken === '') {
		throw new CredentialError('API Token in the credential is empty. Copy it from your platform.');
	}
	if (!HEADER_TEXT.test(apiToken + bodyApiToken)) {
		throw new CredentialError(
			'A token in the credential contains a space or another character that cannot be sent. Copy it again from your platform.',
		);
	}

	// n8n treats an empty list as no restriction.
	if (isRestricted && !(allowedDomains && isDomainAllowed({ url: base.value, allowedDomains }))) {
		throw new CredentialError(
			'Allowed Domains in the credential does not include the host of its Base URL. Add the host, or allow all domains.',
		);
	}

	return {
		baseUrl: base.value,
		apiToken,
		bodyApiToken,
		notificationUrl: data.notificationUrl || undefined,
		notificationField: (data.platformDiffers && data.notificationField) || undefined,
		allowedDomains: (isRestricted && allowedDomains) || undefined,
		key: digest(base.value, apiToken),
		redact: createRedactor([apiToken, bodyApiToken]),
		credential: { ...credential, apiToken },
	};
}

/** @throws CredentialError */
export async function loadAccount(
	context: Pick<FunctionsBase, 'getCredentials'>,
	itemIndex?: number,
): Promise<Account> {
	return readAccount(await context.getCredentials(CREDENTIAL_NAME, itemIndex));
}

const LOAD_AGAIN_MS = 1_000;

const recentAccounts = processState(new BoundedMap<Promise<Account>>({ most: 100, keptMs: 5_000 }));

/**
 * Keeps the account for a few seconds, because n8n prepares an expression engine whenever a webhook reads a credential.
 *
 * @throws CredentialError
 */
export async function loadRecentAccount(context: IWebhookFunctions): Promise<Account> {
	const { id, credentials } = context.getNode();
	const key = `${context.getWorkflow().id} ${id} ${credentials?.[CREDENTIAL_NAME]?.id}`;
	const recent = recentAccounts.get(key);
	if (recent) return await recent;

	const load = async () => await loadAccount(context);
	// Tried twice, because n8n's database may have a hiccup. After that it counts as a missing credential.
	const account = tryPatiently(load, [LOAD_AGAIN_MS]).catch((error: unknown) => {
		recentAccounts.delete(key);
		if (error instanceof CredentialError) throw error;
		throw new CredentialError('The credential of this node could not be loaded');
	});
	recentAccounts.set(key, account);
	return await account;
}
