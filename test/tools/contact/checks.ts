import * as catalog from './catalogChecks';
import { contradicted, type Evidence, type Finding, together, untold } from './finding';
import * as service from './serviceChecks';
import * as transaction from './transactionChecks';

/** One row of docs/unknowns.md, and what the evidence says of it. */
export interface Check {
	id: string;
	/** The first cell of the row. */
	unknown: string;
	read: (evidence: Evidence) => Finding;
}

const never = (why: string) => (): Finding => untold(why);

/** In the order of the table. What to change is written there, in its third column. */
export const CHECKS: readonly Check[] = [
	{
		id: 'query-names',
		unknown: 'names of the query parameters of GET /products',
		read: catalog.queryNames,
	},
	{ id: 'page-size', unknown: 'largest page size', read: catalog.pageSize },
	{
		id: 'required-fields',
		unknown: 'which fields of a body are required',
		read: service.requiredFields,
	},
	{ id: 'further-fields', unknown: 'further fields of a body', read: service.furtherFields },
	{ id: 'success', unknown: 'status codes of success', read: service.successes },
	{ id: 'failure', unknown: 'status codes of failures', read: service.failures },
	{
		id: 'other-limits',
		unknown: 'rate limits other than GET /products',
		read: service.otherLimits,
	},
	{
		id: 'unknown-hash',
		unknown: 'how a read of an unknown hash is answered',
		read: transaction.unknownHash,
	},
	{ id: 'hash-case', unknown: 'whether hashes ignore case', read: transaction.hashCase },
	{ id: 'hash', unknown: 'what a hash looks like', read: transaction.hashes },
	{ id: 'dates', unknown: 'the form of dates', read: transaction.dates },
	{
		id: 'further-values',
		unknown: 'fields and values of an answer beyond the listed ones',
		read: (evidence) =>
			together(
				service.differencesIn(evidence).further.map(contradicted),
				'what was read has none, which does not exclude others',
			),
	},
	{
		id: 'account-limit',
		unknown: 'whether a limit differs per account',
		read: service.accountLimit,
	},
	{
		id: '429-after-work',
		unknown: 'whether a 429 may follow work that was done',
		read: never('it would take a charge beyond the limit'),
	},
	{
		id: 'idempotency',
		unknown: 'idempotency of POST',
		read: never('it would take the same charge twice'),
	},
	{
		id: 'operation-type',
		unknown: 'meaning of operation_type',
		read: transaction.operationTypes,
	},
	{ id: 'installments', unknown: 'installments for PIX', read: transaction.installments },
	{ id: 'tokens', unknown: 'relation of the two tokens', read: transaction.tokens },
	{
		id: 'discount-methods',
		unknown: 'method names in discounts beyond pix and credit_card',
		read: never('no read shows the discounts of an offer'),
	},
	{ id: 'boleto', unknown: 'name of boleto in transactions', read: transaction.boleto },
	{
		id: 'statuses',
		unknown: 'values of payment_status beyond two',
		read: transaction.statuses,
	},
	{
		id: 'status-transitions',
		unknown: 'transitions of payment_status',
		read: never('one reading shows a status, not what may follow it'),
	},
	{ id: 'notice', unknown: 'shape of notifications', read: transaction.noticeShape },
	{
		id: 'events',
		unknown: 'kinds of `event` beyond transaction',
		read: never('one webhook does not show which others there are'),
	},
	{
		id: 'lag',
		unknown: 'how soon a read shows what a notification says',
		read: never('it would take many payments'),
	},
	{ id: 'signing', unknown: 'signing of notifications', read: transaction.signing },
	{
		id: 're-sending',
		unknown: 're-sending of notifications',
		read: never('--listen answers each webhook with 200'),
	},
	{
		id: 'main-offer',
		unknown: 'which offer and product a transaction names if its cart has several',
		read: never('it would take a charge of several offers'),
	},
	{ id: 'accents', unknown: 'how a search matches', read: catalog.accents },
	{ id: 'largest-amount', unknown: 'the largest amount', read: transaction.largestAmount },
	{
		id: 'unit-price',
		unknown: 'whether `cart[].price` is the price of a unit, and `amount` the sum',
		read: never('it would take a charge of several units'),
	},
	{
		id: 'customer-forms',
		unknown: 'forms of phone and document',
		read: never('only charges with other forms could tell'),
	},
];
