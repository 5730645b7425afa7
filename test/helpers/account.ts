import omitBy from 'lodash/omitBy';
import type { ICredentialDataDecryptedObject, IDataObject, INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import { RETRY_LIMITS } from '../../nodes/DigitalSales/api/retryTable';
import { ENDPOINTS } from '../../nodes/DigitalSales/api/endpoints';
import { clearProcessState } from '../../nodes/DigitalSales/shared/processState';
import { type Fault, type Sandbox, type SandboxOptions, startSandbox } from '../sandbox';
import { useTimeLapse } from './timeLapse';
import {
	type CredentialData,
	type NodeOutcome,
	type NodeRunOptions,
	processedItems,
	runNode,
} from './engine';
import { inOptions } from './inOptions';

/** Short names of the endpoints. */
const ENDPOINT = {
	list: 'GET /products',
	offer: 'POST /products/{hash}/offers',
	charge: 'POST /transactions',
	read: 'GET /transactions/{hash}',
} as const;

/** A sandbox with an account, and the action node that works on it. */
export type Account = Awaited<ReturnType<typeof openAccount>>;

let accounts = 0;

/** Each sandbox has its own token, because rate limits are counted per account. */
export async function openAccount(options: SandboxOptions = {}) {
	accounts += 1;
	const sandbox = await startSandbox({
		requestsPerMinute: null,
		// Drawing QR codes is slow, and few tests need the picture.
		qrImage: 'absent',
		apiToken: `test-api-token-${process.pid}-${accounts}`,
		bodyApiToken: `test-body-token-${process.pid}-${accounts}`,
		...options,
	});
	const { baseUrl, apiToken, bodyApiToken } = sandbox;
	const digitalSalesApi: ICredentialDataDecryptedObject = {
		...{ baseUrl, apiToken, bodyApiToken },
		platformDiffers: true,
	};
	const credentials: CredentialData = { digitalSalesApi };
	return {
		sandbox,
		credentials,
		/** Adds a fault at an endpoint, which strikes once by default. */
		fault(at: keyof typeof ENDPOINT, fault: Fault, times = fault.times): void {
			sandbox.addFault({ ...fault, endpoint: ENDPOINT[at], times });
		},
		/** Makes `GET /products` return these products, and removes all faults. */
		sells(...data: IDataObject[]): void {
			sandbox.clearFaults();
			const set = { data, meta: { last_page: 1 }, links: { next: null } };
			sandbox.addFault({ endpoint: ENDPOINT.list, kind: 'patchBody', set, times: 'always' });
		},
		/** The bodies of all requests to create something, oldest first. */
		bodies: (): IDataObject[] =>
			sandbox.requests.flatMap(({ method, body }) =>
				method === 'POST' ? [body as IDataObject] : [],
			),
		/** The credentials with some fields changed. An undefined field stays as it was. */
		credentialsWith(changes: IDataObject): CredentialData {
			const changed = omitBy(changes, (value) => value === undefined);
			return { digitalSalesApi: Object.assign({ ...digitalSalesApi }, changed) };
		},
		/** The same account under another Base URL, so the process counts it as another account. */
		credentialsElsewhere(): CredentialData {
			return this.credentialsWith({ baseUrl: baseUrl.replace('127.0.0.1', 'localhost') });
		},
		/** How often the transaction with this hash was read, or any transaction. */
		reads(hash = ''): number {
			return sandbox.requests.filter(
				({ method, path }) =>
					method === 'GET' && path.includes('/transactions/') && path.endsWith(hash),
			).length;
		},
		/** Resets the platform and everything that the process remembers about it. */
		reset(): void {
			sandbox.reset();
			clearProcessState();
			processedItems.clear();
		},
		/** Runs the action node once with all items. Rejects if the run fails. */
		async run(parameters: INodeParameters, runOptions: NodeRunOptions = {}): Promise<NodeOutcome> {
			const outcome = await runNode(parameters, { credentials, ...runOptions });
			const error = outcome.node?.error;
			if (error) throw error;
			expect(outcome.status).toBe('success');
			return outcome;
		},
		/** Runs the action node and returns the error that a person sees. Rejects if the run succeeds. */
		async fail(parameters: INodeParameters, runOptions: NodeRunOptions = {}) {
			const { node, status } = await runNode(parameters, { credentials, ...runOptions });
			const error = node?.error;
			expect(status).toBe('error');
			if (!error) throw new Error('The run failed without an error of the node');
			return {
				message: error.message,
				description: String(error.description ?? ''),
				httpCode: 'httpCode' in error ? error.httpCode : null,
				itemIndex: error.context?.itemIndex as unknown,
				/** Everything that n8n stores of the error. */
				kept: `${JSON.stringify(error)} ${error.stack ?? ''}`,
			};
		},
	};
}

/**
 * Opens an account for the tests of a block, resets it before each test and closes it at the end. Waiting
 * takes no time. The account exists from the first test on.
 */
export function useAccount(options: SandboxOptions = {}): Account {
	useTimeLapse();
	const account = {} as Account;
	beforeAll(async () => {
		Object.assign(account, await openAccount(options));
	});
	beforeEach(() => account.reset());
	afterAll(async () => await account.sandbox.close());
	return account;
}

/** A customer with a valid CPF. */
export const CUSTOMER = {
	customerName: 'Maria da Silva',
	customerEmail: 'maria@example.com',
	customerPhone: '(11) 91234-5678',
	customerDocument: '529.982.247-25',
} as const;

/** Parameters of Transaction > Create PIX for one offer of the sandbox. */
export function pixParameters(sandbox: Sandbox, more: INodeParameters = {}): INodeParameters {
	const offer = sandbox.products[0]?.offers[0];
	if (offer === undefined) throw new Error('The catalog is empty');
	return {
		resource: 'transaction',
		operation: 'create',
		cart: {
			items: [
				{
					offerHash: { __rl: true, mode: 'hash', value: offer.hash },
					price: '19,90',
					quantity: 2,
					more: {
						title: 'Curso de Fotografia',
						cover: 'https://cdn.example.com/curso.png',
						operationType: 1,
					},
				},
			],
		},
		...CUSTOMER,
		simplify: false,
		// Few tests need the picture.
		...inOptions({ webhooksGoTo: 'none', qrCodeImage: false, ...more }),
	};
}

const errorItem = z
	.object({
		error: z
			.object({
				message: z.string().min(1),
				advice: z.string().nullable(),
				status: z.number().int().nullable(),
				outcome: z.enum(['refused', 'unknown', 'notSent']),
				messages: z.array(z.string()),
				fields: z.record(z.array(z.string())),
				about: z.string().nullable(),
			})
			.strict(),
	})
	.strict();

/** The error of a failed item under On Error: Continue. Throws if it has another shape. */
export function errorIn(json: IDataObject | undefined): z.output<typeof errorItem>['error'] {
	return errorItem.parse(json).error;
}

/** Changes the retry limits and the timeout, which no form offers, until the end of a test. */
export function useLimits(): (
	limits: Partial<typeof RETRY_LIMITS> & { timeoutMs?: number },
) => void {
	const retry = { ...RETRY_LIMITS };
	const times = Object.values(ENDPOINTS).map((endpoint) => ({ endpoint, usual: { ...endpoint } }));
	afterEach(() => {
		Object.assign(RETRY_LIMITS, retry);
		for (const { endpoint, usual } of times) Object.assign(endpoint, usual);
	});
	return ({ timeoutMs, ...limits }) => {
		Object.assign(RETRY_LIMITS, limits);
		if (timeoutMs === undefined) return;
		for (const { endpoint } of times) Object.assign(endpoint, { timeoutMs });
	};
}
