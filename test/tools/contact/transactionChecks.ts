import type { IDataObject } from 'n8n-workflow';
import { soldHashField } from '../../../nodes/DigitalSales/trigger/form';
import { isUsableHash } from '../../../nodes/DigitalSales/domain/hash';
import { STATUS_GROUPS } from '../../../nodes/DigitalSales/domain/paymentStatus';
import { readTransaction } from '../../../nodes/DigitalSales/api/schemas/transaction';
import { isJsonObject } from '../../../nodes/DigitalSales/shared/json';
import { readNotice } from '../../../nodes/DigitalSales/notice/parse';
import { offersOf } from './catalogChecks';
import { kindOf } from './documented';
import { confirmed, contradicted, type Evidence, type Finding, together, untold } from './finding';
import { isAnswered, isSuccess, refusesToken, statusOf } from './service';

const NO_TRANSACTION = 'only a transaction can tell; name one with --hash';
const LONGEST_HASH = 200;
const DOCUMENTED_STATUSES = ['waiting_payment', 'paid'];

const SIGNATURE = /signature|signed|hmac|digest|^sig$/i;
/** What else may prove who sent a webhook. */
const PROOF = /token|secret|authorization|api[-_]?key/i;

function jsonsOf({ transactions }: Evidence) {
	return transactions.flatMap(({ transaction }) => (transaction ? [transaction.json] : []));
}

export function unknownHash({ unknownHash: { answer, transaction } }: Evidence): Finding {
	if (!isAnswered(answer)) return untold(`it is answered with ${statusOf(answer)}`);
	if (transaction) return contradicted(`it is answered with ${answer.status} and a transaction`);
	const text = `it is answered with ${statusOf(answer)}`;
	return answer.status === 404 && !answer.isWebPage
		? confirmed(text)
		: contradicted(`${text}, so the trigger answers such a notice with 503, not 404`);
}

export function hashCase({ transactions }: Evidence): Finding {
	return together(
		transactions.flatMap(({ transaction, otherCase }) => {
			if (!transaction || !otherCase) return [];
			const { answer, transaction: other, hash } = otherCase;
			if (!isAnswered(answer))
				return [untold(`the other spelling is answered with ${statusOf(answer)}`)];
			if (!other)
				return [confirmed(`case counts: the other spelling is answered with ${answer.status}`)];
			if (other.hash === transaction.hash) {
				return [confirmed('case is ignored, and the answer keeps the spelling of the service')];
			}
			return other.hash === hash
				? [contradicted('case is ignored, and the answer repeats the spelling that was asked for')]
				: [contradicted('the other spelling is answered with another transaction')];
		}),
		NO_TRANSACTION,
	);
}

/** Whether each hash can be sent in a path, entered in a filter and read from a notice. */
export function hashes(evidence: Evidence): Finding {
	const { products } = evidence;
	const sold = [...products, ...products.flatMap(offersOf)].map(({ hash }) => hash);
	const read = jsonsOf(evidence).map(({ hash }) => hash);
	const all = [...sold, ...read];
	if (all.length === 0) return untold('there is no hash to look at');
	const parts = all.flatMap((hash) => {
		if (typeof hash !== 'string')
			return [contradicted(`a hash is ${hash === undefined ? 'missing' : kindOf(hash)}`)];
		if (!isUsableHash(hash)) return [contradicted('a hash does not fit into a path')];
		if (hash.length > LONGEST_HASH) return [contradicted(`a hash has ${hash.length} characters`)];
		return soldHashField.safeParse(hash).success
			? []
			: [contradicted('a hash is refused by the filters of the trigger')];
	});
	if (read.some((hash) => /^\d+$/.test(String(hash)))) {
		parts.push(contradicted('a hash of digits alone is not read from transaction.id of a notice'));
	}
	const lengths = all.map((hash) => String(hash).length);
	const range = `${Math.min(...lengths)} to ${Math.max(...lengths)} characters`;
	const isPlain = all.every((hash) => /^[a-z0-9]+$/.test(String(hash)));
	const letters = isPlain ? ' of a-z and 0-9' : '';
	return together(
		[...parts, confirmed(`${all.length} hashes have ${range}${letters}`)],
		NO_TRANSACTION,
	);
}

export function operationTypes(evidence: Evidence): Finding {
	return ones(evidence, {
		valuesOf: ({ items }) =>
			Array.isArray(items) ? items.filter(isJsonObject).map((item) => item.operation_type) : [],
		what: 'an item',
		without: 'only a transaction of others can tell; name one with --hash',
	});
}

export function installments(evidence: Evidence): Finding {
	return ones(evidence, {
		valuesOf: (json) => (json.payment_method === 'pix' ? [json.installments] : []),
		what: 'a PIX transaction',
		without: 'only a PIX transaction of others can tell; name one with --hash',
	});
}

interface Ones {
	valuesOf: (json: IDataObject) => unknown[];
	what: string;
	without: string;
}

/** Whether a value is always 1. The command's own charge sent a 1, so a 1 in it tells nothing. */
function ones({ transactions }: Evidence, { valuesOf, what, without }: Ones): Finding {
	const values = transactions.flatMap(({ transaction, isOwn }) =>
		valuesOf(transaction?.json ?? {}).filter((value) => !isOwn || value !== 1),
	);
	return together(
		values.map((value) => {
			const text = `${what} has ${typeof value === 'number' ? value : kindOf(value)}`;
			return value === 1 ? confirmed(text) : contradicted(text);
		}),
		without,
	);
}

export function tokens({ charge, hasSecondToken }: Evidence): Finding {
	if (!charge || charge === 'none') return untold('only --charge can tell');
	const which = hasSecondToken ? 'the second token' : 'the token of the header';
	const { answer } = charge;
	if (isSuccess(answer)) return confirmed(`a body with ${which} is accepted`);
	return refusesToken(answer)
		? contradicted(`a body with ${which} is refused (${statusOf(answer)})`)
		: untold(`the charge is answered with ${statusOf(answer)}, and no word on a token`);
}

export function boleto(evidence: Evidence): Finding {
	return together(
		jsonsOf(evidence).flatMap(({ payment_method: method, billet }) => {
			if (method === 'boleto' || method === 'billet') return [confirmed(`it is called ${method}`)];
			const isAnother = billet != null || !['pix', 'credit_card'].includes(String(method));
			return isAnother ? [contradicted(`a method is called ${word(method, evidence)}`)] : [];
		}),
		'only a transaction by boleto can tell; name one with --hash',
	);
}

export function statuses(evidence: Evidence): Finding {
	const known: readonly string[] = Object.values(STATUS_GROUPS).flat();
	return together(
		jsonsOf(evidence).flatMap(({ payment_status: status }) => {
			if (DOCUMENTED_STATUSES.includes(String(status))) return [];
			return known.includes(String(status))
				? [confirmed(`${word(status, evidence)} is in one of the groups`)]
				: [contradicted(`${word(status, evidence)} is in no group`)];
		}),
		'only a transaction with another status can tell; name one with --hash',
	);
}

function word(value: unknown, { shown }: Evidence): string {
	return typeof value === 'string' ? `"${shown(value)}"` : kindOf(value);
}

const DATE = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;

export function dates(evidence: Evidence): Finding {
	const dated = [...evidence.products.flatMap(offersOf), ...jsonsOf(evidence)];
	const values = dated.flatMap(({ created_at, updated_at }) => [created_at, updated_at]);
	return together(
		values.map((value) => {
			if (typeof value !== 'string')
				return contradicted(`a date is ${value === undefined ? 'missing' : kindOf(value)}`);
			return DATE.test(value)
				? confirmed('dates are YYYY-MM-DD HH:MM:SS')
				: contradicted(`a date looks like ${masked(value)}`);
		}),
		'there is no date to look at',
	);
}

/** Without its digits and words: a report shows no dates of anybody. */
function masked(date: string): string {
	return date
		.slice(0, 40)
		.replace(/\p{L}/gu, (letter) => (/[TZ]/.test(letter) ? letter : 'x'))
		.replace(/\d/g, 'd');
}

export function largestAmount(evidence: Evidence): Finding {
	const amounts = [
		...evidence.products.flatMap(offersOf).map(({ price }) => price),
		...jsonsOf(evidence).map(({ amount }) => amount),
	].filter((amount) => typeof amount === 'number');
	return amounts.every((amount) => Number.isSafeInteger(amount))
		? untold('only a charge of the largest amount could tell; all amounts seen are exact')
		: contradicted('an amount has a fraction or is not exact');
}

export function noticeShape({ heard, charge, transactions }: Evidence): Finding {
	if (!heard) return untold('only --listen can tell');
	const { notice, others } = heard;
	if (!notice) {
		return untold(`no webhook came in time; requests with another content: ${others}`);
	}
	const read = readNotice(notice.body);
	if (notice.method !== 'POST')
		return contradicted(`it comes by ${notice.method}, and not by POST`);
	if (!read) {
		return contradicted(
			readNotice(notice.content)
				? 'it is JSON under the content type of a form, which n8n does not read as JSON'
				: 'no known shape: no hash is where the package looks for it',
		);
	}
	const charged =
		charge && charge !== 'none' && isSuccess(charge.answer)
			? readTransaction(charge.answer.json)
			: undefined;
	if (charged && charged.hash !== read.hash) {
		return contradicted('the hash that is read from it is not that of the charge');
	}
	if (read.status === undefined)
		return contradicted('a known shape, but no status is where the package looks for it');
	const readBack = transactions.find(({ hash }) => hash === read.hash);
	if (readBack && !readBack.transaction) {
		return contradicted(
			`a known shape, but its transaction is answered with ${statusOf(readBack.answer)}`,
		);
	}
	return confirmed('a known shape: the hash and the status are read from it');
}

export function signing({ heard, shown }: Evidence): Finding {
	if (!heard?.notice) return untold('only a webhook that --listen takes can tell');
	const { headers, query, body } = heard.notice;
	const names = [
		...headers.map((name) => ['header', name] as const),
		...query.map((name) => ['query parameter', name] as const),
		...namesIn(body).map((name) => ['field', name] as const),
	];
	const parts = names.flatMap(([where, name]) => {
		const text = `it has the ${where} ${shown(name)}`;
		if (SIGNATURE.test(name)) return [contradicted(text)];
		return PROOF.test(name) ? [untold(`${text}, which may prove who sent it`)] : [];
	});
	return parts.length === 0
		? confirmed('no header, query parameter or field looks like a signature or a token')
		: together(parts, '');
}

/** The names of all fields, as deep as a signature may stand. */
function namesIn(value: unknown, depth = 0): string[] {
	if (typeof value !== 'object' || value === null || depth > 4) return [];
	return Object.entries(value).flatMap(([name, entry]) => [name, ...namesIn(entry, depth + 1)]);
}
