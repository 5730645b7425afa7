import { parseArgs } from 'node:util';
import { z } from 'zod';
import { createRedactor, type Redactor } from '../../../nodes/DigitalSales/api/redact';
import { parseBaseUrl, parseWebAddress } from '../../../nodes/DigitalSales/domain/webAddress';
import { isUsableHash } from '../../../nodes/DigitalSales/domain/hash';

/** How the command ends. 1 is left to what nobody has thought of. */
export const EXIT = {
	nothingContradicted: 0,
	settings: 2,
	token: 3,
	path: 4,
	down: 5,
	rateLimited: 6,
	contradicted: 7,
} as const;

/** Why there is no report: one sentence, and the exit code. */
export class Refusal extends Error {
	constructor(
		readonly exit: (typeof EXIT)[keyof typeof EXIT],
		message: string,
	) {
		super(message);
	}
}

export const USAGE = `Usage: npm run contact -- [options]
  --hash <hash>             a transaction to read; may be repeated
  --charge                  sends one PIX charge, at the lowest price in the catalog
  --offer <product hash>    creates one offer of this product
  --listen <[host:]port>    waits for one webhook; the host is 127.0.0.1 if you leave it out
  --notify <url>            where the charge sends its webhooks: the public URL of your tunnel
  --report <file>           also writes the report into a file
DIGITAL_SALES_BASE_URL and DIGITAL_SALES_TOKEN are read from the environment;
DIGITAL_SALES_SECOND_TOKEN and DIGITAL_SALES_CUSTOMER (JSON: name, email, phone_number, document)
are for --charge.`;

/** Who is charged; a service that looks a CPF up needs a real one. */
const EXAMPLE_CUSTOMER = {
	name: 'Maria Exemplo',
	email: 'maria@example.com',
	phone_number: '11900000000',
	document: '52998224725',
};

const customerSchema = z
	.object({ name: z.string(), email: z.string(), phone_number: z.string(), document: z.string() })
	.strict();

export type Customer = z.output<typeof customerSchema>;

export interface Settings {
	baseUrl: string;
	token: string;
	secondToken: string | undefined;
	customer: Customer;
	hashes: string[];
	charge: boolean;
	offerFor: string | undefined;
	listen: { host: string; port: number } | undefined;
	notify: string | undefined;
	report: string | undefined;
	redact: Redactor;
}

type Environment = Record<string, string | undefined>;

/** Reads the arguments and the environment; undefined if only the usage is asked for. */
export function readSettings(args: string[], environment: Environment): Settings | undefined {
	const values = argumentsOf(args);
	if (values.help) return undefined;
	const token = tokenIn(environment, 'DIGITAL_SALES_TOKEN');
	const secondToken = tokenIn(environment, 'DIGITAL_SALES_SECOND_TOKEN');
	const base = parseBaseUrl(environment.DIGITAL_SALES_BASE_URL ?? '');
	// What it holds stays out of the sentence: it may be a token.
	if ('problem' in base) {
		throw wrong('DIGITAL_SALES_BASE_URL is empty or not a web address that ends with its path.');
	}
	if (token === undefined) throw wrong('DIGITAL_SALES_TOKEN is empty.');
	for (const hash of [...values.hash, ...(values.offer === undefined ? [] : [values.offer])]) {
		if (!isUsableHash(hash)) throw wrong('--hash and --offer need a hash.');
	}
	if (values.notify !== undefined && !parseWebAddress(values.notify)) {
		throw wrong('--notify must start with http:// or https://.');
	}
	if (values.notify !== undefined && !values.charge) throw wrong('--notify needs --charge.');
	return {
		baseUrl: base.value,
		token,
		secondToken,
		customer: customerIn(environment),
		hashes: values.hash,
		charge: values.charge,
		offerFor: values.offer,
		listen: values.listen === undefined ? undefined : listenAddress(values.listen),
		notify: values.notify,
		report: values.report,
		redact: createRedactor([token, secondToken]),
	};
}

function argumentsOf(args: string[]) {
	try {
		return parseArgs({
			args,
			options: {
				hash: { type: 'string', multiple: true, default: [] },
				charge: { type: 'boolean', default: false },
				offer: { type: 'string' },
				listen: { type: 'string' },
				notify: { type: 'string' },
				report: { type: 'string' },
				help: { type: 'boolean', default: false },
			},
		}).values;
	} catch {
		// Neither is what was typed here.
		throw wrong('An argument is unknown or lacks its value; --help lists them.');
	}
}

/** A header cannot carry other characters, and the error about it would quote the token. */
const SENDABLE = /^[\x21-\x7e]+$/;

function tokenIn(environment: Environment, name: string): string | undefined {
	const token = environment[name]?.trim() ?? '';
	if (token === '') return undefined;
	if (!SENDABLE.test(token)) throw wrong(`${name} has characters that no token has.`);
	return token;
}

function customerIn({ DIGITAL_SALES_CUSTOMER: text }: Environment): Customer {
	if (text === undefined || text === '') return EXAMPLE_CUSTOMER;
	try {
		return customerSchema.parse(JSON.parse(text));
	} catch {
		throw wrong('DIGITAL_SALES_CUSTOMER is not JSON with name, email, phone_number and document.');
	}
}

function listenAddress(text: string): { host: string; port: number } {
	const [, host = '127.0.0.1', port = ''] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
	if (port === '' || Number(port) > 65_535) throw wrong('--listen needs a port, or host:port.');
	return { host, port: Number(port) };
}

function wrong(message: string): Refusal {
	return new Refusal(EXIT.settings, message);
}
